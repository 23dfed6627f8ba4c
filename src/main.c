/* The table of commands, and what all of them share: signals, the error line,
 * the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "files/output.h"
#include "util/memory.h"

const struct command *const commands[] = {
    &command_run,   &command_merge,   &command_heatmap, &command_view, &command_compare,
    &command_align, &command_inspect, &command_bench,   &command_help, NULL,
};

static void remove_and_die(int signal_number)
{
	output_remove_temporaries();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* A mapped input that shrinks while it is read has no more bytes to give. */
static void end_on_bus_error(int signal_number, siginfo_t *info, void *context)
{
	static const char message[] = "attn: an input file changed while it was read\n";
	static atomic_flag told = ATOMIC_FLAG_INIT; /* threads meet it together */
	(void)context;
	if (info->si_code != BUS_ADRERR)
		remove_and_die(signal_number);
	output_remove_temporaries();
	if (!atomic_flag_test_and_set(&told))
		(void)!write(STDERR_FILENO, message, sizeof message - 1);
	_exit(ATTN_FAILED);
}

/* Libraries that draw text abort, or worse, where they get no memory or no thread. */
static void end_on_failure(int signal_number)
{
	static const char message[] =
	    "attn: a library failed, most likely for want of memory or threads: nothing more was written\n";
	(void)signal_number;
	output_remove_temporaries();
	(void)!write(STDERR_FILENO, message, sizeof message - 1);
	_exit(ATTN_FAILED);
}

/* But not where a sanitizer has more to tell. */
static void handle_failures(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	static const int signals[] = {SIGABRT, SIGTRAP, SIGSEGV};
	static char stack[64 * 1024]; /* of its own, since that may be what ended */
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = end_on_failure, .sa_flags = SA_ONSTACK | SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
#endif
}

static void handle_signals(void)
{
	static const int fatal[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
	struct sigaction action = {.sa_handler = remove_and_die};
	struct sigaction before;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
			sigaction(fatal[i], &action, NULL);
	struct sigaction bus = {.sa_sigaction = end_on_bus_error, .sa_flags = SA_SIGINFO};
	sigemptyset(&bus.sa_mask);
	sigaction(SIGBUS, &bus, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is seen where it is written to, and so is a limit */
	signal(SIGXFSZ, SIG_IGN);
	handle_failures();
}

/* Was all that went through stdio written?  A reader that left early is fine. */
static enum attn_status close_standard_output(const struct command *command, enum attn_status status)
{
	static const char message[] = "could not write standard output";
	struct attn_error err = {ATTN_OK, ""};
	errno = 0; /* what it says now may be of long ago */
	if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE || status != ATTN_OK)
		return status;
	status = errno ? attn_fail_errno(&err, ATTN_FAILED, message) : attn_fail(&err, ATTN_FAILED, message);
	report_error(command, &err);
	return status;
}

/* A file that is opened must not land on a standard stream that was closed.  What
 * takes its place can only be read, so that writing fails and is told. */
static void open_standard_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	static const struct command program = {.name = "attn", .title = "attn"};
	struct attn_error err = {ATTN_OK, ""};
	memory_keep();
	open_standard_streams();
	handle_signals();
	const struct command *command = &command_help;
	if (argc > 1 && argv[1][0] != '-') {
		command = command_find(commands, "attn", argv[1], &err);
		if (!command) {
			report_error(&program, &err);
			return ATTN_USAGE;
		}
		argc--;
		argv++;
	}
	return (int)close_standard_output(command, command_start(command, argc, argv));
}
