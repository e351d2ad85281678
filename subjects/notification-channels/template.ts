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
  | { readonly kind: 'section'; readonly path: string; readonly inverted: boolean; readonly nodes: Node[] };

export interface Template {
  /** Renders the text for these values, truncated at `maxLength` characters. `quote` is applied to each value. */
  render(values: object, maxLength?: number, quote?: (value: string) => string): string;
}

const defaultMaxLength = 20_000;
const maxDepth = 8;
/** A possible tag contains no brace, so each character is scanned once */
const bracedPattern = /\{\{([^{}]*)\}\}/g;
const tag = /^([#^/]?)\s*([\w.-]+)$/;

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

  end(): void {
    const last = this.#openSections.at(-1);
    if (last !== undefined) throw new TemplateError(`{{#${last.path}}} is not closed`);
  }

  get #nodes(): Node[] {
    return this.#openSections.at(-1)?.nodes ?? this.root;
  }

  #begin(path: string, inverted: boolean): void {
    if (this.#openSections.length >= maxDepth)
      throw new TemplateError(`has more than ${maxDepth} levels of nested sections`);
    const section = { kind: 'section' as const, path, inverted, nodes: [] };
    this.#nodes.push(section);
    this.#openSections.push(section);
  }

  #close(path: string): void {
    if (this.#openSections.pop()?.path !== path)
      throw new TemplateError(`{{/${path}}} does not close the last opened section`);
  }
}

const parseNodes = (text: string): Node[] => {
  const reader = new TemplateParser();
  let last = 0;
  for (const match of text.matchAll(bracedPattern)) {
    const [whole, content = ''] = match;
    const [is, sign = '', path = ''] = tag.exec(content.trim()) ?? [];
    if (is === undefined) continue;
    reader.text(text.slice(last, match.index));
    reader.tag(sign, path);
    last = match.index + whole.length;
  }
  reader.text(text.slice(last));
  reader.end();
  return reader.root;
};

const ownProperty = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const getAtPath = (value: unknown, path: string): unknown => {
  if (path === '.') return value;
  // Label names may contain dots, so the remaining path is first tried as one name.
  const direct = ownProperty(value, path);
  if (direct !== undefined) return direct;
  const dot = path.indexOf('.');
  return dot < 0 ? undefined : getAtPath(ownProperty(value, path.slice(0, dot)), path.slice(dot + 1));
};

const find = (scopes: readonly unknown[], path: string): unknown => {
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
class Writer {
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
      else if (node.kind === 'value') this.#text += this.#quote(formatValue(find(scopes, node.path)));
      else this.#section(node, scopes);
    }
  }

  #section({ path, inverted, nodes }: Node & { kind: 'section' }, scopes: readonly unknown[]): void {
    const value = find(scopes, path);
    if (isPresent(value) === inverted) return;
    const list = inverted ? [undefined] : Array.isArray(value) ? value : [value];
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
      const writer = new Writer(maxLength, quote);
      writer.write(nodes, [values]);
      return truncate(writer.text, maxLength);
    },
  };
};
