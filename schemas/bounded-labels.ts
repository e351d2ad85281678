interface Bounds {
  /** Maximum characters of a value. */
  readonly value: number;
  /** Maximum number of labels; unlimited by default. */
  readonly max?: number;
}

/**
 * Returns the labels of a group in stored form. Labels with an empty value are dropped. Names and values are bounded,
 * because states and messages contain them.
 */
export const boundedLabels = (
  labels: Readonly<Record<string, string>>,
  { value: characters, max }: Bounds,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name, value]) => value !== '' && name !== '__name__')
      .slice(0, max)
      .map(([name, value]) => [name.slice(0, 256), value.slice(0, characters)]),
  );
