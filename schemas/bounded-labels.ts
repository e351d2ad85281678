interface Bounds {
  /** Maximum characters of a value. */
  readonly maxValueLength: number;
  /** Maximum number of labels; unlimited by default. */
  readonly maxLabels?: number;
}

/**
 * Returns the labels of a group in stored form. Labels with an empty value are dropped. Names and values are bounded,
 * because states and messages contain them.
 */
export const boundLabels = (
  labels: Readonly<Record<string, string>>,
  { maxValueLength, maxLabels }: Bounds,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name, value]) => value !== '' && name !== '__name__')
      .slice(0, maxLabels)
      .map(([name, value]) => [name.slice(0, 256), value.slice(0, maxValueLength)]),
  );
