/** Milliseconds that this thread has had a processor: waiting for one, on a busy machine, is not counted. */
export const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
