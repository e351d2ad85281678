/**
 * Masks secrets in what agents report: values of sensitive names, credentials in URLs, and what the rules for secrets
 * find. It reads YAML, JSON and lines of `name = value`, each character once or twice.
 */
import { isSecretName } from '../../schemas/secret-names.ts';
import { findSecrets, replaceSecrets } from '../../subjects/secrets/scan.ts';
import { removeCredentials } from '../browser/sensitive-text.ts';

export const maskedValue = '****';

const sensitivePattern =
  /authorization|credential|cookie|\bdsn\b|connection string|signature|\b(?:license|account|shared|write|ingest|encryption|signing|master|hmac|ssh)[ _-]?key|\bkey[ _-]pem\b/i;
/** `token_file` is the path of a file. */
const pathNamePattern = /(?:file|path|dir|directory|filename)$/i;

/** `authenticator` names an extension of the Collector. */
const isSensitiveName = (name: string): boolean =>
  name !== 'authenticator' && !pathNamePattern.test(name) && (isSecretName(name) || sensitivePattern.test(name));
/**
 * Whether all values within a section are masked: those of HTTP headers, whatever their names. `bearertokenauth/a` is a
 * component of the Collector, whose fields have names of their own.
 */
const isSensitiveSection = (name: string): boolean =>
  /^headers$/i.test(name) || (isSensitiveName(name) && !/auth$|\//i.test(name));
/** Keys in lists of headers whose values name things */
const plainKeys = new Set(['action', 'key', 'name', 'from_context', 'from_attribute']);
/** Keys of an object whose value names what `value` is */
const namingKeys = new Set(['name', 'key', 'header']);

const maxReferenceLength = 256;
/** References to environment variables and secret stores are not secrets. */
const isReference = (value: string): boolean => /^["']?\$\{[^}]{0,256}\}["']?$/.test(value);

/** Masks what the rules for secrets find. Generic rules would mask names such as that of an authenticator. */
const maskMatches = (text: string): string => {
  const matches = findSecrets(text).filter(({ rule }) => !rule.isGeneric);
  return replaceSecrets(text, matches, () => maskedValue);
};

/** Returns a text without credentials; `name` is the name of its field. */
export const maskText = (text: string, name = ''): string => {
  if (text === '') return text;
  return name !== '' && isSensitiveName(name) ? maskedValue : removeCredentials(maskMatches(text));
};

const unquote = (text: string): string => text.replace(/^["']|["']$/g, '');
const structural = new Set([...'{}[],:=\n']);

/** Returns the end of the token at `start`: a quoted text, or characters up to one that has a meaning. */
const findTokenEnd = (text: string, start: number): number => {
  const quote = text.charAt(start);
  let end = start;
  if (quote === '"' || quote === "'") {
    for (end++; end < text.length && text.charAt(end) !== quote; end++)
      if (quote === '"' && text.charAt(end) === '\\') end++;
    return Math.min(text.length, end + 1);
  }
  // A reference such as ${env:TOKEN} is one token.
  if (text.startsWith('${', start)) {
    const close = text.slice(start, start + maxReferenceLength).indexOf('}');
    if (close > 0) return start + close + 1;
  }
  while (end < text.length && !structural.has(text.charAt(end))) end++;
  return end;
};

/** An object or a list that is being read */
interface OpenBracket {
  readonly isMasked: boolean;
  /** The value of `name`, which states what `value` is */
  name: string;
}

/** Masks values in JSON, and in objects and lists within a line of YAML. */
class FlowMask {
  readonly #text: string;
  readonly #open: OpenBracket[];
  #key: string | undefined;
  #token = '';

  constructor(text: string, isMasked: boolean) {
    this.#text = text;
    this.#open = [{ isMasked, name: '' }];
  }

  mask(): string {
    const text = this.#text;
    let masked = '';
    for (let position = 0; position < text.length; ) {
      const character = text.charAt(position);
      if (structural.has(character) || /\s/.test(character)) {
        this.#passMark(character);
        masked += character;
        position++;
        continue;
      }
      const end = findTokenEnd(text, position);
      masked += this.#maskToken(text.slice(position, end), /^\s*[:=]/.test(text.slice(end, end + 16)));
      position = end;
    }
    return masked;
  }

  get #bracket(): OpenBracket {
    return this.#open.at(-1) as OpenBracket;
  }

  #passMark(character: string): void {
    if (character === ':' || character === '=') {
      this.#key = this.#token;
      return;
    }
    if (character === '{' || character === '[') {
      const isSection = this.#key !== undefined && isSensitiveSection(this.#key);
      this.#open.push({ isMasked: this.#bracket.isMasked || isSection, name: '' });
    } else if ((character === '}' || character === ']') && this.#open.length > 1) this.#open.pop();
    if (structural.has(character) && character !== '\n') this.#key = undefined;
  }

  #maskToken(rawToken: string, isKey: boolean): string {
    this.#token = unquote(rawToken.trimEnd());
    if (isKey) return rawToken;
    const isSensitive = this.#isSensitive();
    if (this.#key !== undefined && namingKeys.has(this.#key)) this.#bracket.name = this.#token;
    return isSensitive && !isReference(rawToken.trim()) ? `"${maskedValue}"` : rawToken;
  }

  #isSensitive(): boolean {
    const key = this.#key;
    const { isMasked, name } = this.#bracket;
    if (key === undefined) return isMasked;
    if (isSensitiveName(key) || (key === 'value' && isSensitiveName(name))) return true;
    return isMasked && !plainKeys.has(key);
  }
}

const maskFlow = (text: string, isMasked: boolean): string => new FlowMask(text, isMasked).mask();

interface Line {
  readonly indent: number;
  /** Spaces and markers of lists */
  readonly prefix: string;
  readonly content: string;
}

const readLine = (line: string): Line => {
  let position = 0;
  while (position < line.length && ' \t'.includes(line.charAt(position))) position++;
  while (line.startsWith('- ', position)) {
    position += 2;
    while (line.charAt(position) === ' ') position++;
  }
  return { indent: position, prefix: line.slice(0, position), content: line.slice(position) };
};

interface Entry {
  readonly name: string;
  /** The line up to its value */
  readonly beginning: string;
  readonly value: string;
}

const skipSpace = (text: string, start: number): number => {
  let position = start;
  while (position < text.length && /\s/.test(text.charAt(position))) position++;
  return position;
};

/** Returns name and value of a line such as `name: value`. */
const readEntry = (content: string): Entry | undefined => {
  if ('{[#'.includes(content.charAt(0))) return undefined;
  const end = skipSpace(content, findTokenEnd(content, 0));
  const valueStart = skipSpace(content, end + 1);
  const separator = content.charAt(end);
  const isSeparated = valueStart > end + 1 || end + 1 === content.length;
  if (separator !== '=' && !(separator === ':' && isSeparated)) return undefined;
  return {
    name: unquote(content.slice(0, end).trim()),
    beginning: content.slice(0, valueStart),
    value: content.slice(valueStart).trimEnd(),
  };
};

const isBlockStart = (value: string): boolean => /^[|>][-+0-9]{0,3}$/.test(value);
const hasBrackets = (value: string): boolean => value !== '' && '{['.includes(value.charAt(0));
/** Whether the value is on the following lines */
const continues = (value: string): boolean => value === '' || isBlockStart(value) || value === '{' || value === '[';

const maskValue = (value: string): string => {
  if (continues(value) || isReference(value)) return value;
  return hasBrackets(value) ? maskFlow(value, true) : maskedValue;
};

/** Masks lines of YAML, and of files with `name = value`. */
class LineMask {
  /** Lines that are indented further than this belong to a masked value. */
  #maskedIndent = Number.POSITIVE_INFINITY;
  /** Whether these lines are one text, without names */
  #isText = false;
  /** Indentation of an object whose `name` is that of a secret; -1 for none */
  #namedIndent = -1;

  mask(text: string): string {
    return text
      .split('\n')
      .map((line) => this.#maskLine(line))
      .join('\n');
  }

  #maskLine(line: string): string {
    const { indent, prefix, content } = readLine(line);
    if (content.trim() === '') return line;
    const entry = readEntry(content);
    if (indent > this.#maskedIndent) return prefix + this.#maskInside(content, entry);
    this.#maskedIndent = Number.POSITIVE_INFINITY;
    if (entry === undefined) return prefix + maskFlow(content, false);
    return prefix + this.#maskEntry(entry, indent);
  }

  #maskInside(content: string, entry: Entry | undefined): string {
    if (this.#isText) return maskedValue;
    if (entry === undefined) return hasBrackets(content) ? maskFlow(content, true) : maskValue(content);
    return plainKeys.has(entry.name) ? content : entry.beginning + maskValue(entry.value);
  }

  #maskEntry({ name, beginning, value }: Entry, indent: number): string {
    const isNamedSecret = this.#namedIndent === indent && name === 'value';
    if (indent < this.#namedIndent) this.#namedIndent = -1;
    if (namingKeys.has(name)) this.#namedIndent = isSensitiveName(unquote(value)) ? indent : -1;
    const isSensitive = isNamedSecret || isSensitiveSection(name) || (value !== '' && isSensitiveName(name));
    if (!isSensitive) return beginning + (hasBrackets(value) ? maskFlow(value, false) : value);
    this.#maskedIndent = indent;
    this.#isText = isBlockStart(value) || (!continues(value) && !hasBrackets(value));
    return beginning + maskValue(value);
  }
}

/** Returns a configuration with its secrets masked. */
export const maskConfiguration = (text: string): string => {
  const isJson = /^\s{0,64}[{[]/.test(text);
  return maskText(isJson ? maskFlow(text, false) : new LineMask().mask(text));
};
