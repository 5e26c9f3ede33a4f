/* SPDX-License-Identifier: MIT */
#include "loop_fs.h"

#include "crew.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	IMAGE_MIB = 1024, /* sparse; what mkfs.xfs and mkfs.btrfs are content with, and the files */
	CONFIGURE_TRIES = 16,
	GONE_TRIES = 500,
	GONE_PAUSE_US = 10000,
	ARGUMENTS_MAX = 8,
	NOT_FOUND = 127
};

/* All is done when mkfs returns: no thread of the kernel goes on writing. */
static const struct mkfs {
	const char *type;
	const char *arguments[ARGUMENTS_MAX]; /* and the device */
} makers[] = {
	{"ext4",
	 {"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}},
	{"xfs", {"mkfs.xfs", "-q", "-f", "-K"}},
	{"btrfs", {"mkfs.btrfs", "-q", "-f", "-K"}},
};

static const struct mkfs *find_maker(const char *type)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (!strcmp(makers[i].type, type))
			return &makers[i];
	}
	return NULL;
}

bool loop_fs_is_type(const char *type)
{
	return find_maker(type) != NULL;
}

/* Without a name; on file systems that cannot do that, with one, for a moment. */
static int make_image(const struct scratch *scratch, struct why *why)
{
	_cleanup_close_ int fd = openat(scratch->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		fd = openat(scratch->fd, "image", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		unlinkat(scratch->fd, "image", 0);
	}
	if (fd < 0 || ftruncate(fd, (off_t)IMAGE_MIB << 20) < 0)
		return why_errno(why, -errno, "cannot make an image in %s", scratch->path);
	return take_fd(&fd);
}

/* A free loop device, on @image. It is detached with its last user. */
static int attach(struct loop_fs *fs, int control, int image, struct why *why)
{
	struct loop_config config = {
		.fd = (uint32_t)image,
		.info = {.lo_flags = LO_FLAGS_AUTOCLEAR},
	};

	for (int i = 0; i < CONFIGURE_TRIES; i++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(fs->device, sizeof(fs->device), "/dev/loop%d", number);
		fs->device_fd = number < 0 ? -1 : open(fs->device, O_RDWR | O_CLOEXEC);
		if (fs->device_fd < 0)
			break;
		if (ioctl(fs->device_fd, LOOP_CONFIGURE, &config) == 0)
			return 0;
		close_keep_errno(take_fd(&fs->device_fd));
		/* Somebody else was faster. */
		if (errno != EBUSY)
			break;
	}
	return why_errno(why, -errno, "cannot have a loop device");
}

static void run_maker(const struct mkfs *maker, const char *device, pid_t parent)
{
	const char *arguments[ARGUMENTS_MAX + 2];
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;
	size_t n = 0;

	die_with_parent(parent);
	for (; n < ARGUMENTS_MAX && maker->arguments[n]; n++)
		arguments[n] = maker->arguments[n];
	arguments[n++] = device;
	arguments[n] = NULL;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* mke2fs, for one, can be led to other settings (MKE2FS_CONFIG). */
	clearenv();
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	execvp(arguments[0], (char *const *)arguments);
	_exit(NOT_FOUND);
}

static int make_file_system(const struct mkfs *maker, const char *device, const struct watch *watch,
			    struct why *why)
{
	pid_t parent = getpid(), pid = fork();
	int status, r;

	if (pid < 0)
		return why_errno(why, -errno, "cannot run %s", maker->arguments[0]);
	if (pid == 0)
		run_maker(maker, device, parent);
	r = watch_child(watch, pid, 0, &status, why);
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return r;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return why_set(why, -ENOENT, "there is no %s", maker->arguments[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return why_set(why, -EIO,
			       "%s of %s failed: look at the kernel's log, and whether its image "
			       "has room in --temp-dir",
			       maker->arguments[0], device);
	return 0;
}

/* Where only we, and who we start, can see it. */
static int mount_privately(struct loop_fs *fs, const char *type, const struct scratch *scratch,
			   struct why *why)
{
	/* The host's mounts and unmounts still come to us, so that we pin none of them. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return why_errno(why, -errno, "cannot have a mount namespace");
	/* By its path: descriptors belong to the namespace that we came from. */
	if (mount(fs->device, scratch->path, type, MS_NODEV | MS_NOSUID | MS_NOEXEC, NULL) < 0)
		return why_errno(why, -errno, "cannot mount %s on %s", type, fs->device);
	snprintf(fs->mount, sizeof(fs->mount), "%s", scratch->path);
	fs->dir_fd = open(fs->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fs->dir_fd < 0)
		return why_errno(why, -errno, "cannot open the file system on %s", fs->device);
	return 0;
}

int loop_fs_create(struct loop_fs *fs, const char *type, const struct scratch *scratch,
		   const struct watch *watch, struct why *why)
{
	const struct mkfs *maker = find_maker(type);
	_cleanup_close_ int control = -1, image = -1;
	int r;

	*fs = (struct loop_fs){.device_fd = -1, .dir_fd = -1};
	if (!maker)
		return why_set(why, -EINVAL, "no file system %s can be made", type);
	if (geteuid() != 0)
		return why_set(why, -EPERM, "only root may mount a file system on a loop device");
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		return why_errno(why, -errno, "cannot have a loop device: /dev/loop-control");
	image = make_image(scratch, why);
	r = image < 0 ? image : attach(fs, control, image, why);
	if (r == 0)
		r = make_file_system(maker, fs->device, watch, why);
	if (r == 0)
		r = mount_privately(fs, type, scratch, why);
	if (r < 0)
		loop_fs_destroy(fs);
	return r;
}

/* The kernel detaches it from a worker of its own. */
static void await_detached(const char *device)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", device + strlen("/dev/"));
	for (int i = 0; i < GONE_TRIES && access(path, F_OK) == 0; i++)
		usleep(GONE_PAUSE_US);
}

void loop_fs_destroy(struct loop_fs *fs)
{
	close_keep_errno(take_fd(&fs->dir_fd));
	if (fs->mount[0] && umount2(fs->mount, 0) < 0)
		umount2(fs->mount, MNT_DETACH);
	fs->mount[0] = '\0';
	if (fs->device_fd < 0)
		return;
	close_keep_errno(take_fd(&fs->device_fd));
	await_detached(fs->device);
}
