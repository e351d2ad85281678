interface Bounds {
  /** Characters of a value. */
  readonly value: number;
  /** Labels of one thing; all without it. */
  readonly max?: number;
}

/** Labels of a group as they are kept. One without a value is none. Names and values are bounded: they lie in states and in messages. */
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
