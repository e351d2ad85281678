/** Functions of a source text: where each begins and ends, and the name that V8 would print for it. */
import type { Parser, SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { parser } from '@lezer/javascript';

/** A function of a source. Lines count from 0, columns in UTF-16 code units from 0. */
export interface SourceFunction {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Empty for an anonymous function */
  readonly name: string;
}

const parsers: Readonly<Record<string, Parser>> = {
  ts: parser.configure({ dialect: 'ts' }),
  jsx: parser.configure({ dialect: 'jsx' }),
  tsx: parser.configure({ dialect: 'ts jsx' }),
};
const dialects: Readonly<Record<string, string>> = {
  js: 'jsx',
  mjs: 'jsx',
  cjs: 'jsx',
  jsx: 'jsx',
  ts: 'ts',
  mts: 'ts',
  cts: 'ts',
  tsx: 'tsx',
};

const findParser = (source: string): Parser | undefined => {
  const extension = source.slice(source.lastIndexOf('.') + 1).toLowerCase();
  return parsers[dialects[extension] ?? ''];
};

const maxNameLength = 256;

class NameReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the name of a function; empty for an anonymous one. */
  read(node: SyntaxNode): string {
    const name = this.#readOwnName(node) || this.#readNameOfPlace(node);
    return name.slice(0, maxNameLength);
  }

  #textOf(node: SyntaxNode | null): string {
    return node === null ? '' : this.#text.slice(node.from, node.to);
  }

  #readKey(node: SyntaxNode): string {
    const key = node.getChild('PropertyDefinition') ?? node.getChild('PrivatePropertyDefinition');
    if (key !== null) return this.#textOf(key);
    // A computed name is known only at run time.
    const first = node.getChild('String') ?? node.getChild('Number');
    return this.#textOf(first).replace(/^['"]|['"]$/g, '');
  }

  #readOwnName(node: SyntaxNode): string {
    if (node.name === 'MethodDeclaration') return this.#readMember(node);
    if (node.name === 'Property') return this.#readKey(node);
    return node.name === 'ArrowFunction' ? '' : this.#textOf(node.getChild('VariableDefinition'));
  }

  /** Returns the name of a member of a class, with the class where V8 prints it. */
  #readMember(member: SyntaxNode): string {
    const key = this.#readKey(member);
    const accessor = ['get', 'set'].find((keyword) => member.getChild(keyword) !== null);
    if (accessor !== undefined && key !== '') return `${accessor} ${key}`;
    if (key.startsWith('#')) return key;
    const declaration = member.parent?.name === 'ClassBody' ? member.parent.parent : null;
    const className = declaration === null ? '' : this.#readOwnName(declaration) || this.#readNameOfPlace(declaration);
    if (key === 'constructor') return className === '' ? '' : `new ${className}`;
    return key === '' || className === '' ? key : `${className}.${key}`;
  }

  /** Returns the name that a function or class has from the place where it is written. */
  #readNameOfPlace(node: SyntaxNode): string {
    const { parent } = node;
    switch (parent?.name) {
      case 'VariableDeclaration': {
        let previous = node.prevSibling;
        while (previous !== null && previous.name !== 'VariableDefinition') previous = previous.prevSibling;
        return this.#textOf(previous);
      }
      case 'Property':
        return this.#readKey(parent);
      case 'PropertyDeclaration':
        return this.#readMember(parent);
      case 'AssignmentExpression': {
        const left = parent.firstChild;
        if (left === null || left.from === node.from) return '';
        return left.name === 'MemberExpression' ? this.#textOf(left.getChild('PropertyName')) : this.#textOf(left);
      }
      case 'ParenthesizedExpression':
        return this.#readNameOfPlace(parent);
      default:
        return '';
    }
  }
}

const functionNames = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunction', 'MethodDeclaration']);

const isFunction = (node: SyntaxNodeRef): boolean =>
  functionNames.has(node.name) || (node.name === 'Property' && node.node.getChild('ParamList') !== null);

/** Returns the offset of each line. A line of ECMAScript ends with LF, CR, CRLF, or a Unicode line separator. */
const listLineStarts = (text: string): number[] => {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) continue;
    if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) starts.push(at + 1);
  }
  return starts;
};

/** Finds lines of ascending offsets. */
class LineFinder {
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#starts = listLineStarts(text);
  }

  find(offset: number): readonly [line: number, column: number] {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return [low, offset - (this.#starts[low] ?? 0)];
  }
}

/**
 * Returns the functions of a source text by their start; `undefined` if its language is not JavaScript or TypeScript.
 * The parser tolerates errors, and its time is linear in the text.
 */
export const listFunctions = (source: string, text: string): SourceFunction[] | undefined => {
  const languageParser = findParser(source);
  if (languageParser === undefined) return undefined;
  const names = new NameReader(text);
  const lines = new LineFinder(text);
  const functions: SourceFunction[] = [];
  // The grammar lacks generic async arrow functions, whose `async` changes no position.
  languageParser.parse(text.replace(/\basync(?=\s{0,8}<)/g, '     ')).iterate({
    enter(node) {
      if (!isFunction(node)) return;
      const [startLine, startColumn] = lines.find(node.from);
      const [endLine, endColumn] = lines.find(node.to);
      functions.push({ startLine, startColumn, endLine, endColumn, name: names.read(node.node) });
    },
  });
  return functions;
};
