/** Names of fields in documents that were saved before version 2, and what they are called since. */
type Fields = Readonly<Record<string, unknown>>;
type Change = (fields: Fields) => Fields;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const rename =
  (names: Readonly<Record<string, string>>): Change =>
  (fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));

/** Applies changes to the objects in fields, or to each object of the lists in them. */
const inside = (changes: Readonly<Record<string, Change>>): Change => {
  const changed = (change: Change, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => changed(change, one));
    return isFields(value) ? change(value) : value;
  };
  return (fields) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const change = changes[name];
        return [name, change === undefined ? value : changed(change, value)];
      }),
    );
};

const both =
  (first: Change, second: Change): Change =>
  (fields) =>
    second(first(fields));

const renameLimit = rename({ most: 'max' });
const renameImported = rename({ kept: 'unmapped' });
export const renameFormerVisual = both(rename({ most: 'max', why: 'reason' }), inside({ reduce: renameLimit }));
const renamePanel = both(
  rename({ mostPoints: 'maxDataPoints', shortestStep: 'minStep' }),
  inside({
    queries: rename({ shortestStep: 'minStep' }),
    visual: renameFormerVisual,
    repeat: renameLimit,
    imported: renameImported,
  }),
);

/** A document of version 1 with the names of version 2. */
export const renameFormerFields = inside({
  panels: renamePanel,
  sections: inside({ repeat: renameLimit }),
  variables: inside({ auto: rename({ least: 'min' }), imported: renameImported }),
  annotations: inside({ imported: renameImported }),
  imported: renameImported,
});
