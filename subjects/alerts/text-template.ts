/** Labels and annotations with figures and labels in them, as Prometheus' rule files write them: `{{ $value | humanize }}`. */

/** What a template may name. */
export interface TemplateValues {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | null;
  /** In the unit of the value; null where the condition has none. */
  readonly threshold: number | null;
}

class TemplateError extends Error {}

const prefixed = (value: number, base: number, large: readonly string[], small: readonly string[]): string => {
  if (value === 0 || !Number.isFinite(value)) return shortest(value);
  let [rest, place] = [value, -1];
  if (Math.abs(value) >= 1) {
    for (; place + 1 < large.length && Math.abs(rest) >= base; place++) rest /= base;
    return shortest(rest) + (large[place] ?? '');
  }
  for (; place + 1 < small.length && Math.abs(rest) < 1; place++) rest *= base;
  return shortest(rest) + (small[place] ?? '');
};

/** Four significant digits, as Go's %.4g. */
const shortest = (value: number): string => {
  if (!Number.isFinite(value)) return goNumber(value);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(Number(value.toPrecision(4)))));
  if (exponent >= -4 && exponent < 4) return String(Number(value.toPrecision(4)));
  const [digits = '', power = '+0'] = Number(value.toPrecision(4)).toExponential().split('e');
  return `${digits}e${power[0]}${power.slice(1).padStart(2, '0')}`;
};

const goNumber = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (Number.isNaN(value) || value === 0) return String(value);
  const [digits = '', power = '+0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 21)
    return String(value).includes('e') ? value.toFixed(20).replace(/0+$/, '') : String(value);
  return `${digits}e${power[0]}${power.slice(1).padStart(2, '0')}`;
};

const humanizeDuration = (seconds: number): string => {
  if (!Number.isFinite(seconds) || seconds === 0) return `${shortest(seconds)}s`.replace('Infs', 'Inf');
  if (Math.abs(seconds) < 1) return `${prefixed(seconds, 1000, [], ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'])}s`;
  const sign = seconds < 0 ? '-' : '';
  const whole = Math.trunc(Math.abs(seconds));
  const [days, hours, minutes] = [whole / 86_400, (whole / 3600) % 24, (whole / 60) % 60].map(Math.trunc) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${whole % 60}s`;
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${whole % 60}s`;
  if (minutes > 0) return `${sign}${minutes}m ${whole % 60}s`;
  return `${sign}${shortest(Math.abs(seconds))}s`;
};

const formatted = (format: string, given: unknown): string => {
  const verb = /%(?:\.(\d{1,2}))?([fgdsvq%])/g;
  return format.replace(verb, (_, digits: string | undefined, kind: string) => {
    if (kind === '%') return '%';
    if (kind === 'f') return numberOf(given).toFixed(digits === undefined ? 6 : Number(digits));
    if (kind === 'd') return String(Math.trunc(numberOf(given)));
    if (kind === 'q') return JSON.stringify(textOf(given));
    return kind === 'g' && digits !== undefined
      ? String(Number(numberOf(given).toPrecision(Number(digits))))
      : textOf(given);
  });
};

const numberOf = (given: unknown): number => {
  // As Go's templates say it.
  if (given === null) throw new TemplateError('no value');
  const number = typeof given === 'number' ? given : Number(given);
  if (given === '' || (Number.isNaN(number) && given !== 'NaN' && typeof given !== 'number'))
    throw new TemplateError(`${JSON.stringify(given)} is no number`);
  return number;
};
const textOf = (given: unknown): string =>
  given === null ? '' : typeof given === 'number' ? goNumber(given) : String(given);

const functions: Readonly<Record<string, (...given: unknown[]) => unknown>> = {
  humanize: (given) =>
    prefixed(numberOf(given), 1000, ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'], ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y']),
  humanize1024: (given) => prefixed(numberOf(given), 1024, ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'], []),
  humanizeDuration: (given) => humanizeDuration(numberOf(given)),
  humanizePercentage: (given) => `${shortest(numberOf(given) * 100)}%`,
  humanizeTimestamp: (given) =>
    `${new Date(numberOf(given) * 1000).toISOString().replace('T', ' ').replace('.000Z', '')} +0000 UTC`,
  printf: (format, given) => formatted(String(format), given),
  toUpper: (given) => textOf(given).toUpperCase(),
  toLower: (given) => textOf(given).toLowerCase(),
  title: (given) => textOf(given).replace(/\b\p{Ll}/gu, (letter) => letter.toUpperCase()),
};

/** A word of an action: text, a number, `$value`, `$threshold`, `$labels.name`, `.Labels.name`. */
const operand = (word: string, { labels, value, threshold }: TemplateValues): unknown => {
  if (word === '$value' || word === '.Value') return value;
  if (word === '$threshold') return threshold;
  if (/^["`]/.test(word)) return word.startsWith('`') ? word.slice(1, -1) : JSON.parse(word);
  const label = /^(?:\$labels|\.Labels)\.(\w+)$/.exec(word)?.[1];
  if (label !== undefined) return Object.hasOwn(labels, label) ? labels[label] : '';
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word);
  throw new TemplateError(`${word} is not known: there are $value, $threshold, $labels.name, and functions`);
};

const words = /"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s|]+|\|/g;

/** One call of a pipeline; what the call before gave is its last argument. */
const call = (parts: readonly string[], piped: readonly unknown[], values: TemplateValues): unknown => {
  const [name = '', ...rest] = parts;
  if (name === 'index' && /^(\$labels|\.Labels)$/.test(rest[0] ?? ''))
    return values.labels[textOf(operand(rest[1] ?? '""', values))] ?? '';
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (known === undefined && (rest.length > 0 || piped.length > 0)) throw new TemplateError(`${name} is no function`);
  if (known === undefined) return operand(name, values);
  return known(...rest.map((word) => operand(word, values)), ...piped);
};

const action = (content: string, values: TemplateValues): string => {
  let piped: unknown[] = [];
  let parts: string[] = [];
  for (const [word] of `${content} |`.matchAll(words)) {
    if (word !== '|') {
      parts.push(word);
      continue;
    }
    if (parts.length === 0) throw new TemplateError('a part of it is empty');
    piped = [call(parts, piped, values)];
    parts = [];
  }
  return textOf(piped[0]);
};

const actions = /\{\{-?\s*([\s\S]*?)\s*-?\}\}/g;

/** The text with its values. What cannot be filled in says so in its place, so that an alert is told all the same. */
export const fillIn = (template: string, values: TemplateValues): string =>
  template.includes('{{')
    ? template.replace(actions, (_, content: string) => {
        try {
          return action(content, values);
        } catch (error) {
          return `<${error instanceof TemplateError ? error.message : 'it cannot be read'}>`;
        }
      })
    : template;

/** What is wrong with a template, whatever the values; undefined where nothing is. */
export const templateProblem = (template: string): string | undefined => {
  for (const [, content = ''] of template.matchAll(actions))
    try {
      action(content, { labels: {}, value: 1, threshold: 1 });
    } catch (error) {
      // Whether a label holds a number is not known before.
      if (!(error instanceof TemplateError && error.message === '"" is no number'))
        return `{{ ${content} }}: ${error instanceof TemplateError ? error.message : 'it cannot be read'}`;
    }
  return undefined;
};
