/** Returns the CPU time of this thread in milliseconds. Excludes waiting for a processor on a busy machine. */
export const getThreadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
