/** Adjectives of quantities with their comparatives and superlatives: "hotter than", "the weakest", "how deep" */

interface Adjective {
  readonly base: string;
  readonly isLarge: boolean;
  /** Last words of names of what it describes */
  readonly quantities: readonly string[];
}

const createAdjectives = (isLarge: boolean, adjectives: Readonly<Record<string, string>>): Adjective[] =>
  Object.entries(adjectives).map(([base, quantities]) => ({
    base,
    isLarge,
    quantities: quantities.split(' ').filter((quantity) => quantity !== ''),
  }));

const adjectives: readonly Adjective[] = [
  ...createAdjectives(true, {
    hot: 'temperature',
    warm: 'temperature',
    heavy: 'weight mass load',
    deep: 'depth',
    strong: 'strength',
    full: 'level utilization usage charge',
    old: 'age',
    loud: 'noise loudness',
    bright: 'brightness',
    wet: 'moisture humidity',
    tall: 'height',
    wide: 'width',
    thick: 'thickness',
  }),
  ...createAdjectives(false, {
    cold: 'temperature',
    cool: 'temperature',
    light: 'weight mass',
    shallow: 'depth',
    weak: 'strength',
    empty: 'level utilization usage charge',
    young: 'age',
    quiet: 'noise loudness',
    dark: 'brightness',
    dry: 'moisture humidity',
    thin: 'thickness',
    cheap: 'price cost amount',
  }),
];

/** Returns a form of an adjective: `hot` becomes `hotter`, `heavy` becomes `heavier`. */
const inflect = (base: string, ending: 'er' | 'est'): string => {
  if (base.endsWith('y')) return `${base.slice(0, -1)}i${ending}`;
  if (base.endsWith('e')) return `${base}${ending.slice(1)}`;
  return /[^aeiou][aeiou][dgnpt]$/.test(base) ? `${base}${base.at(-1)}${ending}` : `${base}${ending}`;
};

const listForms = (isLarge: boolean, toForm: (base: string) => string): string =>
  adjectives
    .filter((adjective) => adjective.isLarge === isLarge)
    .map(({ base }) => toForm(base))
    .join('|');

/** Phrases of adjectives, separated by `|` */
export const adjectivePhrases = {
  largest: listForms(true, (base) => inflect(base, 'est')),
  smallest: listForms(false, (base) => inflect(base, 'est')),
  above: listForms(true, (base) => `${inflect(base, 'er')} than`),
  below: listForms(false, (base) => `${inflect(base, 'er')} than`),
  how: [true, false].map((isLarge) => listForms(isLarge, (base) => `how ${base}`)).join('|'),
} as const;

const quantitiesByForm: ReadonlyMap<string, readonly string[]> = new Map(
  adjectives.flatMap(({ base, quantities }) =>
    [base, inflect(base, 'er'), inflect(base, 'est')].map((form): [string, readonly string[]] => [form, quantities]),
  ),
);

/** Returns what an adjective describes: temperatures for "hottest". */
export const getQuantities = (word: string): readonly string[] => quantitiesByForm.get(word) ?? [];
