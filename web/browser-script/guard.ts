/** Keeps errors of the script away from the page. */

/** Returns a function that returns undefined where `work` throws. */
export const guard =
  <Parameters extends readonly unknown[], Result>(work: (...given: Parameters) => Result) =>
  (...given: Parameters): Result | undefined => {
    try {
      return work(...given);
    } catch {
      return undefined;
    }
  };

/** Returns a random id of hexadecimal digits. */
export const createId = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
