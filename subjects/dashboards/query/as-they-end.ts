/**
 * Yields the results of tasks with their indexes, each as soon as it is complete; `maxConcurrent` tasks run concurrently. If
 * the caller stops iterating, no more tasks start.
 */
export async function* yieldAsCompleted<Value>(
  tasks: readonly (() => Promise<Value>)[],
  maxConcurrent: number,
): AsyncGenerator<readonly [at: number, value: Value]> {
  const running = new Map<number, Promise<readonly [number, Value]>>();
  let next = 0;
  while (next < tasks.length || running.size > 0) {
    for (; next < tasks.length && running.size < maxConcurrent; next++) {
      const taskIndex = next;
      running.set(
        taskIndex,
        (tasks[taskIndex] as () => Promise<Value>)().then((value) => [taskIndex, value] as const),
      );
    }
    const completed = await Promise.race(running.values());
    running.delete(completed[0]);
    yield completed;
  }
}
