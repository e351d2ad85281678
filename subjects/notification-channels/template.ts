/**
 * Notification templates: `{{path}}`, `{{#path}}…{{/path}}` for lists and present values, `{{^path}}…{{/path}}` for
 * absent values
 */

/** Thrown for an invalid template. The message is for people. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: string }
  | { readonly kind: 'section'; readonly path: string; readonly isInverted: boolean; readonly nodes: Node[] };

export interface Template {
  /** Renders the text for these values, truncated at `maxLength` characters. `quote` is applied to each value. */
  render(values: object, maxLength?: number, quote?: (value: string) => string): string;
}

const defaultMaxLength = 20_000;
const maxDepth = 8;
/** The content of a tag contains no brace, so each character is scanned once */
const bracedPattern = /\{\{([^{}]*)\}\}/g;
const tagPattern = /^([#^/]?)\s*([\w.-]+)$/;

/** Builds nodes as tags open and close sections */
class TemplateParser {
  readonly root: Node[] = [];
  readonly #openSections: { readonly path: string; readonly nodes: Node[] }[] = [];

  text(text: string): void {
    const unmatchedBraces = /\{\{|\}\}/.exec(text);
    if (unmatchedBraces !== null)
      throw new TemplateError(
        `contains ${unmatchedBraces[0]}, which is not a valid tag: write {{name}}, {{#name}} or {{/name}}`,
      );
    if (text !== '') this.#nodes.push({ kind: 'text', text });
  }

  tag(sign: string, path: string): void {
    if (sign === '') this.#nodes.push({ kind: 'value', path });
    else if (sign === '/') this.#close(path);
    else this.#begin(path, sign === '^');
  }

  assertClosed(): void {
    const last = this.#openSections.at(-1);
    if (last !== undefined) throw new TemplateError(`{{#${last.path}}} is not closed`);
  }

  get #nodes(): Node[] {
    return this.#openSections.at(-1)?.nodes ?? this.root;
  }

  #begin(path: string, isInverted: boolean): void {
    if (this.#openSections.length >= maxDepth)
      throw new TemplateError(`has more than ${maxDepth} levels of nested sections`);
    const section = { kind: 'section' as const, path, isInverted, nodes: [] };
    this.#nodes.push(section);
    this.#openSections.push(section);
  }

  #close(path: string): void {
    if (this.#openSections.pop()?.path !== path)
      throw new TemplateError(`{{/${path}}} does not close the last opened section`);
  }
}

const parseNodes = (text: string): Node[] => {
  const parser = new TemplateParser();
  let last = 0;
  for (const match of text.matchAll(bracedPattern)) {
    const [whole, content = ''] = match;
    const [matchedTag, sign = '', path = ''] = tagPattern.exec(content.trim()) ?? [];
    if (matchedTag === undefined) continue;
    parser.text(text.slice(last, match.index));
    parser.tag(sign, path);
    last = match.index + whole.length;
  }
  parser.text(text.slice(last));
  parser.assertClosed();
  return parser.root;
};

const getOwnProperty = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const getAtPath = (value: unknown, path: string): unknown => {
  if (path === '.') return value;
  // Label names may contain dots, so the remaining path is first tried as one name.
  const direct = getOwnProperty(value, path);
  if (direct !== undefined) return direct;
  const dot = path.indexOf('.');
  return dot < 0 ? undefined : getAtPath(getOwnProperty(value, path.slice(0, dot)), path.slice(dot + 1));
};

const findInScopes = (scopes: readonly unknown[], path: string): unknown => {
  for (const scope of scopes) {
    const value = getAtPath(scope, path);
    if (value !== undefined) return value;
  }
  return undefined;
};

const isPresent = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : value !== undefined && value !== null && value !== false && value !== '' && value !== 0;

const formatValue = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${String(each)}`)
    .join(', ');
};

/** Writes output until the limit is reached */
class TemplateWriter {
  readonly #maxLength: number;
  readonly #quote: (value: string) => string;
  #text = '';

  constructor(maxLength: number, quote: (value: string) => string) {
    this.#maxLength = maxLength;
    this.#quote = quote;
  }

  get isFull(): boolean {
    return this.#text.length > this.#maxLength;
  }

  get text(): string {
    return this.#text;
  }

  write(nodes: readonly Node[], scopes: readonly unknown[]): void {
    for (const node of nodes) {
      if (this.isFull) return;
      if (node.kind === 'text') this.#text += node.text;
      else if (node.kind === 'value') this.#text += this.#quote(formatValue(findInScopes(scopes, node.path)));
      else this.#writeSection(node, scopes);
    }
  }

  #writeSection({ path, isInverted, nodes }: Node & { kind: 'section' }, scopes: readonly unknown[]): void {
    const value = findInScopes(scopes, path);
    if (isPresent(value) === isInverted) return;
    const list = isInverted ? [undefined] : Array.isArray(value) ? value : [value];
    for (const each of list) {
      if (this.isFull) return;
      this.write(nodes, [each, ...scopes]);
    }
  }
}

/** Truncates a text to a number of characters, with an ellipsis if text was removed. Never splits a character. */
export const truncate = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
};

/** Parses a template. Throws `TemplateError`. */
export const parseTemplate = (text: string): Template => {
  const nodes = parseNodes(text);
  return {
    render(values, maxLength = defaultMaxLength, quote = (value) => value) {
      const writer = new TemplateWriter(maxLength, quote);
      writer.write(nodes, [values]);
      return truncate(writer.text, maxLength);
    },
  };
};
