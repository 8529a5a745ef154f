/* fleet: a study as jobs for many machines, and their results taken into one store.
 *
 *   jobs.c   writes a folder: jobs/ID (the arguments of one `hone bench`, one a line), job.sh, which runs a job, and
 *            fleet.sbatch or ssh.sh, which distributes the jobs
 *   merge.c  reads spool/ID.db, the results of a job, into a store
 *
 * The scripts contain no model name and no flag, so nothing that a user gives is read by a shell.
 */
#ifndef HONE_FLEET_H
#define HONE_FLEET_H

#include "bench/store/store.h"
#include "core/os/os.h"

struct fleet_options {
  const char *folder; /* on a file system that all machines share */
  bool is_slurm;      /* else ssh */
  const char *const *models;
  size_t model_count;
  const char *const *flags; /* of every `hone bench` */
  size_t flag_count;
  const char *backends, *batches, *threads, *precisions; /* comma-separated; NULL: the default */
  bool together; /* all backends of a configuration in one job, so that they are compared */
};
/* E_PATH where the folder has a fleet already. */
MUST_USE hone_status fleet_write(struct ctx *ctx, const struct fleet_options *options,
                                 size_t *out_jobs);

struct fleet_merge {
  const char *folder;
  const char *store; /* NULL: the user's */
  void (*progress)(void *user,
                   const char *line); /* one line for each spool file that is left out */
  void *user;
};
/* Studies that the store has already are not added again, so this may run while jobs still measure, and repeatedly. A
   damaged spool file is reported and skipped. */
MUST_USE hone_status fleet_merge(struct ctx *ctx, const struct fleet_merge *merge,
                                 size_t *out_merged, size_t *out_jobs);
#endif
