/**
 * Order of versions in the ecosystems of OSV. Public tables of comparisons test each of them (`test/cases/vulnerabilities/`).
 */

type Comparison = (left: string, right: string) => number;

const compareNumbers = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0);
const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
const toNumber = (digits: string | undefined): bigint => BigInt(digits === undefined || digits === '' ? 0 : digits);
const isNumeric = (text: string): boolean => /^\d+$/.test(text);

/** Compares lists item by item; missing items are `filler`. */
const compareLists = <Item>(
  left: readonly Item[],
  right: readonly Item[],
  filler: Item,
  compare: (left: Item, right: Item) => number,
): number => {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = compare(left[index] ?? filler, right[index] ?? filler);
    if (order !== 0) return order;
  }
  return 0;
};

/** Numbers at the beginning of a version, and the rest. */
const splitNumbers = (version: string, maxNumbers = Number.POSITIVE_INFINITY) => {
  const [numbers = ''] = /^\d*(?:\.\d+)*/.exec(version) ?? [];
  const parts = numbers === '' ? [] : numbers.split('.');
  if (parts.length <= maxNumbers) return { numbers: parts.map(toNumber), rest: version.slice(numbers.length) };
  const numericParts = parts.slice(0, maxNumbers);
  return { numbers: numericParts.map(toNumber), rest: version.slice(numericParts.join('.').length) };
};

/** Compares identifiers: numbers by their value, texts by their characters. `numberOrder` is that of a number to a text. */
const compareIdentifiers = (left: string, right: string, numberOrder: -1 | 1): number => {
  if (isNumeric(left) && isNumeric(right)) return compareNumbers(toNumber(left), toNumber(right));
  if (isNumeric(left) !== isNumeric(right)) return isNumeric(left) ? numberOrder : -numberOrder;
  return compareTexts(left, right);
};

/** Compares lists of identifiers; of equal ones, the longer list is later. */
const compareIdentifierLists = (left: readonly string[], right: readonly string[], numberOrder: -1 | 1): number => {
  const common = Math.min(left.length, right.length);
  return (
    compareLists(left.slice(0, common), right.slice(0, common), '', (a, b) => compareIdentifiers(a, b, numberOrder)) ||
    left.length - right.length
  );
};

/** Compares identifiers behind a hyphen as Semantic Versioning does. Without any, a version is later. */
const comparePrereleases = (left: string, right: string): number => {
  if (left === '' || right === '') return left === right ? 0 : left === '' ? 1 : -1;
  return compareIdentifierLists(left.split('.'), right.split('.'), -1);
};

const splitSemantic = (version: string) => {
  const { numbers, rest } = splitNumbers(version.replace(/^v/i, ''));
  const plus = rest.indexOf('+');
  const prerelease = plus < 0 ? rest : rest.slice(0, plus);
  return { numbers, prerelease: prerelease.replace(/^-/, ''), build: plus < 0 ? '' : rest.slice(plus + 1) };
};

const compareSemantic: Comparison = (left, right) => {
  const [a, b] = [splitSemantic(left), splitSemantic(right)];
  return compareLists(a.numbers, b.numbers, 0n, compareNumbers) || comparePrereleases(a.prerelease, b.prerelease);
};

const compareNuget: Comparison = (left, right) => compareSemantic(left.toLowerCase(), right.toLowerCase());

/** In Dart, builds are ordered too, and a version with a build is later. */
const comparePub: Comparison = (left, right) => {
  const order = compareSemantic(left, right);
  if (order !== 0) return order;
  const [a, b] = [splitSemantic(left).build, splitSemantic(right).build];
  if (a === '' || b === '') return a === b ? 0 : a === '' ? -1 : 1;
  return comparePrereleases(a, b);
};

const compareNumberLists =
  (separators: RegExp): Comparison =>
  (left, right) => {
    const [a, b] = [left, right].map((version) =>
      version.split(separators).map((part) => toNumber(/^\d+/.exec(part)?.[0])),
    );
    return compareLists(a ?? [], b ?? [], -1n, compareNumbers);
  };

/** Order of characters of Debian: a tilde is before the end, and letters are before other characters. */
const weighDebian = (character: string): number => {
  if (character === '~') return -1;
  if (character === '') return 0;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256;
};

const compareDebianTexts = (left: string, right: string): number => {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = weighDebian(left.charAt(index)) - weighDebian(right.charAt(index));
    if (order !== 0) return order;
  }
  return 0;
};

/** Compares texts and numbers in turn. */
const compareDebianParts: Comparison = (left, right) => {
  const split = (text: string) =>
    Array.from(text.matchAll(/(\D*)(\d*)/g), ([, letters = '', digits = '']) => ({ letters, digits }));
  return compareLists(
    split(left),
    split(right),
    { letters: '', digits: '' },
    (a, b) => compareDebianTexts(a.letters, b.letters) || compareNumbers(toNumber(a.digits), toNumber(b.digits)),
  );
};

const splitDebian = (version: string) => {
  const trimmed = version.trim();
  const colon = trimmed.indexOf(':');
  const epoch = colon > 0 && isNumeric(trimmed.slice(0, colon)) ? trimmed.slice(0, colon) : '0';
  const rest = colon > 0 ? trimmed.slice(colon + 1) : trimmed;
  const hyphen = rest.lastIndexOf('-');
  return {
    epoch: toNumber(epoch),
    upstream: hyphen < 0 ? rest : rest.slice(0, hyphen),
    revision: hyphen < 0 ? '0' : rest.slice(hyphen + 1),
  };
};

const compareDebian: Comparison = (left, right) => {
  const [a, b] = [splitDebian(left), splitDebian(right)];
  return (
    compareNumbers(a.epoch, b.epoch) ||
    compareDebianParts(a.upstream, b.upstream) ||
    compareDebianParts(a.revision, b.revision)
  );
};

/** Order of suffixes of Alpine; versions without one are between `rc` and `cvs`. */
const alpineSuffixes = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p'];

const splitAlpine = (version: string) => {
  const [, numbers = '', letter = '', digits = '', suffixes = '', hash = '', build = ''] =
    /^((?:\d+\.?)*)([a-z]?)(\d*)((?:_[a-z]+\d*)*)(~[0-9a-f]*)?(-r\d+)?/.exec(version) ?? [];
  return {
    numbers: numbers.split('.').filter((part) => part !== ''),
    letter,
    letterNumber: toNumber(digits),
    suffixes: Array.from(suffixes.matchAll(/_([a-z]+)(\d*)/g), ([, name = '', digits = '']) => ({
      weight: alpineSuffixes.indexOf(name),
      number: toNumber(digits),
    })),
    hash,
    build: toNumber(build.slice(2)),
  };
};

/** A number with a leading zero is a decimal fraction, unless it is the first. */
const compareAlpineNumbers = (left: readonly string[], right: readonly string[]): number => {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [a = '', b = ''] = [left[index], right[index]];
    const isFraction = index > 0 && (a.startsWith('0') || b.startsWith('0'));
    const order = isFraction ? compareTexts(a, b) : compareNumbers(toNumber(a), toNumber(b));
    if (order !== 0) return order;
  }
  return left.length - right.length;
};

const compareAlpine: Comparison = (left, right) => {
  const [a, b] = [splitAlpine(left), splitAlpine(right)];
  return (
    compareAlpineNumbers(a.numbers, b.numbers) ||
    compareTexts(a.letter, b.letter) ||
    compareNumbers(a.letterNumber, b.letterNumber) ||
    compareLists(
      a.suffixes,
      b.suffixes,
      { weight: alpineSuffixes.indexOf(''), number: 0n },
      (x, y) => x.weight - y.weight || compareNumbers(x.number, y.number),
    ) ||
    compareTexts(a.hash, b.hash) ||
    compareNumbers(a.build, b.build)
  );
};

/** Parts of a version of RPM: marks, runs of digits, and runs of letters. */
const splitRpmParts = (version: string): string[] => version.match(/[~^]|\d+|[A-Za-z]+/g) ?? [];

/** Order of kinds of parts: a tilde is before the end, which is before a caret, letters and digits. */
const rankRpmPart = (part: string | undefined): number => {
  if (part === '~') return 0;
  if (part === undefined) return 1;
  if (part === '^') return 2;
  return isNumeric(part) ? 4 : 3;
};

/** As `rpmvercmp`. */
const compareRpmParts: Comparison = (left, right) => {
  const [a, b] = [splitRpmParts(left), splitRpmParts(right)];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [leftPart, rightPart] = [a[index], b[index]];
    const rank = rankRpmPart(leftPart) - rankRpmPart(rightPart);
    if (rank !== 0) return rank;
    const order = compareIdentifiers(leftPart ?? '', rightPart ?? '', 1);
    if (order !== 0) return order;
  }
  return 0;
};

const splitRpm = (version: string) => {
  const [, epoch = '0', rest = ''] = /^(?:(\d+):)?([\s\S]*)$/.exec(version) ?? [];
  const hyphen = rest.lastIndexOf('-');
  return {
    epoch: toNumber(epoch),
    version: hyphen < 0 ? rest : rest.slice(0, hyphen),
    release: hyphen < 0 ? '' : rest.slice(hyphen + 1),
  };
};

const compareRpm: Comparison = (left, right) => {
  const [a, b] = [splitRpm(left), splitRpm(right)];
  const order = compareNumbers(a.epoch, b.epoch) || compareRpmParts(a.version, b.version);
  if (order !== 0) return order;
  return compareRpmParts(a.release, b.release);
};

const splitGem = (version: string) => {
  const segments = Array.from(version.replaceAll('-', '.pre.').matchAll(/\d+|[A-Za-z]+/g), ([segment]) => segment);
  const firstLetters = segments.findIndex((segment) => !isNumeric(segment));
  const trim = (parts: string[]): string[] => {
    const trimmed = [...parts];
    while (trimmed.length > 0 && /^0+$/.test(trimmed.at(-1) ?? '')) trimmed.pop();
    return trimmed;
  };
  return firstLetters < 0
    ? trim(segments)
    : [...trim(segments.slice(0, firstLetters)), ...trim(segments.slice(firstLetters))];
};

/** Letters are before numbers, and before the end. */
const compareGem: Comparison = (left, right) =>
  compareLists(splitGem(left), splitGem(right), '0', (a, b) => {
    if (isNumeric(a) && isNumeric(b)) return compareNumbers(toNumber(a), toNumber(b));
    if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? 1 : -1;
    return compareTexts(a, b);
  });

/** Order of words of Composer: `dev`, `alpha`, `beta`, `RC`, `#` (a number), `p`. */
const composerWords: readonly (readonly [word: RegExp, weight: number])[] = [
  [/^dev/, 0],
  [/^a/, 1],
  [/^b/, 2],
  [/^rc/i, 3],
  [/^c/, 3],
  [/^#/, 4],
  [/^p/, 5],
];

const weighComposer = (part: string): number => {
  const text = isNumeric(part) ? '#' : part;
  return composerWords.find(([word]) => word.test(text))?.[1] ?? -1;
};

const splitComposer = (version: string): string[] =>
  version
    .replace(/^v/i, '')
    .replaceAll(/[-_+]/g, '.')
    .replaceAll(/([^\d.])(\d)/g, '$1.$2')
    .replaceAll(/(\d)([^\d.])/g, '$1.$2')
    .split('.')
    .filter((part) => part !== '');

const compareComposerParts = (a: string, b: string): number =>
  isNumeric(a) && isNumeric(b) ? compareNumbers(toNumber(a), toNumber(b)) : weighComposer(a) - weighComposer(b);

/** As PHP's `version_compare`. */
const compareComposer: Comparison = (left, right) => {
  const [a, b] = [splitComposer(left), splitComposer(right)];
  const common = Math.min(a.length, b.length);
  const order = compareLists(a.slice(0, common), b.slice(0, common), '0', compareComposerParts);
  if (order !== 0 || a.length === b.length) return order;
  const next = (a.length > b.length ? a : b)[common] as string;
  const isLaterWithMore = isNumeric(next) || weighComposer(next) > 4;
  return isLaterWithMore === a.length > b.length ? 1 : -1;
};

/** Order of qualifiers of Maven; others are later, by their text. */
const mavenQualifiers = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const mavenAliases: Readonly<Record<string, string>> = { ga: '', final: '', release: '', cr: 'rc' };
const mavenLetters: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', m: 'milestone' };

interface MavenToken {
  /** Separator before the token; empty for the first */
  readonly separator: '' | '.' | '-';
  readonly text: string;
}

/** Returns the word that a run of letters stands for: `a1` is `alpha-1`, and `final` is nothing. */
const toMavenWord = (run: string, isBeforeNumber: boolean): string => {
  const word = isBeforeNumber ? (mavenLetters[run] ?? run) : run;
  return mavenAliases[word] ?? word;
};

const splitMaven = (version: string): MavenToken[] => {
  const tokens: MavenToken[] = [];
  let separator: MavenToken['separator'] = '';
  let wasRun = false;
  const runs = version.toLowerCase().match(/[.-]|\d+|[^\d.-]+/g) ?? [];
  for (const [index, run] of runs.entries()) {
    if (run === '.' || run === '-') {
      if (!wasRun) tokens.push({ separator, text: '0' });
      separator = run;
      wasRun = false;
      continue;
    }
    const isBeforeNumber = isNumeric(runs[index + 1] ?? '');
    tokens.push({ separator: wasRun ? '-' : separator, text: toMavenWord(run, isBeforeNumber) });
    wasRun = true;
  }
  return trimMaven(tokens);
};

const isNull = (text: string): boolean => text === '' || /^0+$/.test(text);

/** Removes null values from the end, and from before each hyphen. */
const trimMaven = (tokens: readonly MavenToken[]): MavenToken[] => {
  const trimmed = [...tokens];
  for (let index = trimmed.length - 1; index > 0; ) {
    if (isNull((trimmed[index] as MavenToken).text)) {
      trimmed.splice(index, 1);
      index--;
      continue;
    }
    while (index >= 0 && (trimmed[index] as MavenToken).separator !== '-') index--;
    index--;
  }
  return trimmed;
};

/** Rank of kinds of tokens at one place: `.word` < `-word` < `-number` < `.number`. */
const rankMaven = ({ separator, text }: MavenToken): number => {
  if (!isNumeric(text)) return separator === '-' ? 1 : 0;
  return separator === '-' ? 2 : 3;
};

const compareQualifiers = (a: string, b: string): number => {
  const [left, right] = [mavenQualifiers.indexOf(a), mavenQualifiers.indexOf(b)];
  if (left >= 0 && right >= 0) return left - right;
  if (left < 0 && right < 0) return compareTexts(a, b);
  return left < 0 ? 1 : -1;
};

const compareMavenTokens = (a: MavenToken, b: MavenToken): number => {
  if (isNumeric(a.text) && isNumeric(b.text)) {
    if (a.separator !== b.separator && a.separator !== '' && b.separator !== '') return a.separator === '-' ? -1 : 1;
    return compareNumbers(toNumber(a.text), toNumber(b.text));
  }
  const order = rankMaven(a) - rankMaven(b);
  return order === 0 ? compareQualifiers(a.text, b.text) : order;
};

const compareMaven: Comparison = (left, right) => {
  const [a, b] = [splitMaven(left), splitMaven(right)];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [leftToken, rightToken] = [a[index], b[index]];
    const fill = (other: MavenToken): MavenToken => ({
      separator: other.separator,
      text: isNumeric(other.text) ? '0' : '',
    });
    const order = compareMavenTokens(
      leftToken ?? fill(rightToken as MavenToken),
      rightToken ?? fill(leftToken as MavenToken),
    );
    if (order !== 0) return order;
  }
  return 0;
};

interface PythonVersion {
  readonly epoch: bigint;
  readonly release: readonly bigint[];
  readonly pre: readonly [letter: string, number: bigint] | undefined;
  readonly post: bigint | undefined;
  readonly dev: bigint | undefined;
  readonly local: readonly string[];
}

const pythonPattern =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?(?:[-_.]?(dev)[-_.]?(\d+)?)?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/;
const pythonLetters: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

const parsePython = (version: string): PythonVersion | undefined => {
  const match = pythonPattern.exec(version.trim().toLowerCase());
  if (match === null) return undefined;
  const [, epoch, release = '', letter, pre, implicitPost, post, postNumber, dev, devNumber, local] = match;
  const numbers = release.split('.').map(toNumber);
  while (numbers.length > 1 && numbers.at(-1) === 0n) numbers.pop();
  return {
    epoch: toNumber(epoch),
    release: numbers,
    pre: letter === undefined ? undefined : [pythonLetters[letter] ?? letter, toNumber(pre)],
    post: implicitPost !== undefined ? toNumber(implicitPost) : post === undefined ? undefined : toNumber(postNumber),
    dev: dev === undefined ? undefined : toNumber(devNumber),
    local: local === undefined ? [] : local.split(/[-_.]/),
  };
};

/** Before all, or after all, of a part of a version. */
const comparePythonPre = (a: PythonVersion, b: PythonVersion): number => {
  const rank = ({ pre, post, dev }: PythonVersion): number =>
    pre !== undefined ? 1 : post === undefined && dev !== undefined ? 0 : 2;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (a.pre === undefined || b.pre === undefined) return 0;
  return compareTexts(a.pre[0], b.pre[0]) || compareNumbers(a.pre[1], b.pre[1]);
};

const compareOptional = (a: bigint | undefined, b: bigint | undefined, missing: -1 | 1): number => {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? missing : -missing;
  return compareNumbers(a, b);
};

const legacyNames: Readonly<Record<string, string>> = { pre: 'c', preview: 'c', '-': 'final-', rc: 'c', dev: '@' };

const removeLast = (parts: string[], part: string): void => {
  while (parts.at(-1) === part) parts.pop();
};

/** Parts of versions before PEP 440, as setuptools ordered them. */
const splitLegacyPython = (version: string): string[] => {
  const parts: string[] = [];
  for (const [piece] of version.toLowerCase().matchAll(/\d+|[a-z]+|-|[^a-z\d.-]+/g)) {
    const part = legacyNames[piece] ?? piece;
    if (isNumeric(part)) {
      parts.push(part.padStart(8, '0'));
      continue;
    }
    const name = `*${part}`;
    if (name < '*final') removeLast(parts, '*final-');
    removeLast(parts, '00000000');
    parts.push(name);
  }
  return [...parts, '*final'];
};

const comparePython: Comparison = (left, right) => {
  const [a, b] = [parsePython(left), parsePython(right)];
  if (a === undefined || b === undefined) {
    // Versions that are none of PEP 440 are before all others.
    if (a !== b) return a === undefined ? -1 : 1;
    const [leftParts, rightParts] = [splitLegacyPython(left), splitLegacyPython(right)];
    return compareLists(leftParts, rightParts, '', compareTexts);
  }
  return (
    compareNumbers(a.epoch, b.epoch) ||
    compareLists(a.release, b.release, 0n, compareNumbers) ||
    comparePythonPre(a, b) ||
    compareOptional(a.post, b.post, -1) ||
    compareOptional(a.dev, b.dev, 1) ||
    compareIdentifierLists(a.local, b.local, 1)
  );
};

const orders: Readonly<Record<string, Comparison>> = {
  semver: compareSemantic,
  npm: compareSemantic,
  'crates.io': compareSemantic,
  go: compareSemantic,
  hex: compareSemantic,
  swifturl: compareSemantic,
  bitnami: compareSemantic,
  'github actions': compareSemantic,
  conancenter: compareSemantic,
  pub: comparePub,
  nuget: compareNuget,
  pypi: comparePython,
  maven: compareMaven,
  rubygems: compareGem,
  packagist: compareComposer,
  debian: compareDebian,
  ubuntu: compareDebian,
  echo: compareDebian,
  alpine: compareAlpine,
  wolfi: compareAlpine,
  chainguard: compareAlpine,
  minimos: compareAlpine,
  'red hat': compareRpm,
  redhat: compareRpm,
  almalinux: compareRpm,
  'rocky linux': compareRpm,
  opensuse: compareRpm,
  suse: compareRpm,
  mageia: compareRpm,
  'photon os': compareRpm,
  'azure linux': compareRpm,
  openeuler: compareRpm,
  cran: compareNumberLists(/[.-]/),
  bioconductor: compareSemantic,
  hackage: compareNumberLists(/\./),
  ghc: compareNumberLists(/\./),
};

/** Returns the comparison of versions of an ecosystem of OSV, such as `Debian:12`; undefined if its order is unknown. */
export const findVersionOrder = (ecosystem: string): Comparison | undefined =>
  orders[(ecosystem.split(':')[0] as string).trim().toLowerCase()];
