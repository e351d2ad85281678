/** Syntax tree of a Go template. */
import { TemplateError } from './errors.ts';
import { type Token, tokenize } from './lex.ts';

export type Operand =
  | { readonly kind: 'dot' | 'nil' }
  | { readonly kind: 'constant'; readonly value: string | number | bigint | boolean }
  | { readonly kind: 'variable' | 'function'; readonly name: string }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  | { readonly kind: 'field'; readonly object: Operand; readonly name: string };

export interface Pipeline {
  readonly names: readonly string[];
  /** Whether it assigns to an existing variable. */
  readonly isAssignment: boolean;
  readonly commands: readonly (readonly Operand[])[];
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | { readonly kind: 'break' | 'continue' }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

/** Maximum nesting depth, because parser and evaluator are recursive. */
const maxDepth = 50;

class Parser {
  readonly #tokens: readonly Token[];
  readonly #isKnownFunction: (name: string) => boolean;
  #position = 0;
  #depth = 0;
  #rangeDepth = 0;
  #variables: string[] = ['$', '$labels', '$externalLabels', '$externalURL', '$value', '$threshold'];

  constructor(tokens: readonly Token[], isKnownFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#isKnownFunction = isKnownFunction;
  }

  run(): readonly Node[] {
    const { nodes, endKeyword } = this.#parseNodes();
    if (endKeyword !== '') throw new TemplateError(`{{ ${endKeyword} }} has no opening action`);
    return nodes;
  }

  get #token(): Token {
    return this.#tokens[this.#position] ?? { kind: 'end', text: '' };
  }

  #takeToken(): Token {
    const token = this.#token;
    this.#position++;
    return token;
  }

  #skipSpace(): void {
    while (this.#token.kind === 'space') this.#position++;
  }

  #isSign(text: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === text;
  }

  #parseNested<Result>(parse: () => Result): Result {
    if (++this.#depth > maxDepth) throw new TemplateError(`it is nested more than ${maxDepth} levels deep`);
    const result = parse();
    this.#depth--;
    return result;
  }

  /** Parses nodes up to and including the keyword `end` or `else`, or up to the end of the template. */
  #parseNodes(): { readonly nodes: readonly Node[]; readonly endKeyword: string } {
    const nodes: Node[] = [];
    for (;;) {
      const { kind, text } = this.#takeToken();
      if (kind === 'end') return { nodes, endKeyword: '' };
      if (kind === 'text') {
        nodes.push({ kind, text });
        continue;
      }
      this.#skipSpace();
      const word = this.#token.kind === 'word' ? this.#token.text : '';
      if (word === 'end' || word === 'else') {
        this.#position++;
        return { nodes, endKeyword: word };
      }
      nodes.push(this.#parseNested(() => this.#parseAction(word)));
    }
  }

  #parseAction(word: string): Node {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#position++;
        return this.#parseControl(word);
      case 'break':
      case 'continue':
        this.#position++;
        if (this.#rangeDepth === 0) throw new TemplateError(`{{ ${word} }} is outside of range`);
        this.#expectClose();
        return { kind: word };
      case 'define':
      case 'template':
      case 'block':
        throw new TemplateError(`${word} is unknown here`);
      default:
        return { kind: 'action', pipeline: this.#parsePipeline('close') };
    }
  }

  #expectClose(): void {
    this.#skipSpace();
    if (this.#takeToken().kind !== 'close') throw new TemplateError('}} is missing');
  }

  #parseControl(kind: 'if' | 'with' | 'range'): Node {
    const variables = [...this.#variables];
    const pipeline = this.#parsePipeline('close', kind === 'range' ? 2 : 1);
    if (kind === 'range') this.#rangeDepth++;
    const { nodes: body, endKeyword } = this.#parseNodes();
    if (kind === 'range') this.#rangeDepth--;
    const otherwise = endKeyword === 'else' ? this.#parseElse() : [];
    if (endKeyword === '') throw new TemplateError(`{{ ${kind} }} has no {{ end }}`);
    if (endKeyword === 'end') this.#expectClose();
    this.#variables = variables;
    return { kind, pipeline, body, otherwise };
  }

  #parseElse(): readonly Node[] {
    this.#skipSpace();
    const { kind, text } = this.#token;
    if (kind === 'word' && (text === 'if' || text === 'with')) {
      this.#position++;
      return [this.#parseNested(() => this.#parseControl(text))];
    }
    this.#expectClose();
    const { nodes, endKeyword } = this.#parseNodes();
    if (endKeyword !== 'end') throw new TemplateError('{{ else }} has no {{ end }}');
    this.#expectClose();
    return nodes;
  }

  /** Parses up to and including `}}` or the parenthesis. */
  #parsePipeline(end: 'close' | ')', maxNames = 1): Pipeline {
    const { names, isAssignment } = this.#parseDeclaration(maxNames);
    const commands: (readonly Operand[])[] = [];
    for (;;) {
      commands.push(this.#parseCommand());
      if (this.#isSign('|')) {
        this.#position++;
        continue;
      }
      this.#expectEnd(end);
      break;
    }
    if (!isAssignment) this.#variables.push(...names);
    return { names, isAssignment, commands };
  }

  #expectEnd(end: 'close' | ')'): void {
    const { kind, text } = this.#takeToken();
    if (end === 'close' ? kind === 'close' : kind === 'sign' && text === end) return;
    throw new TemplateError(end === ')' && kind === 'close' ? ') is missing' : `${JSON.stringify(text)} is unexpected`);
  }

  #parseDeclaration(maxNames: number): { readonly names: readonly string[]; readonly isAssignment: boolean } {
    const start = this.#position;
    const names = this.#parseNames(maxNames);
    if (names.length === 0 || !(this.#isSign(':=') || this.#isSign('='))) {
      this.#position = start;
      return { names: [], isAssignment: false };
    }
    const isAssignment = this.#takeToken().text === '=';
    if (isAssignment) for (const name of names) this.#requireVariable(name);
    return { names, isAssignment };
  }

  /** Parses variables separated by commas; none if a comma is not followed by a variable. */
  #parseNames(maxNames: number): readonly string[] {
    const names: string[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#token.kind !== 'variable' || names.length === maxNames) return [];
      names.push(this.#takeToken().text);
      this.#skipSpace();
      if (!this.#isSign(',')) return names;
      this.#position++;
    }
  }

  #requireVariable(name: string): string {
    if (!this.#variables.includes(name)) throw new TemplateError(`the variable ${name} is unknown`);
    return name;
  }

  #parseCommand(): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#token.kind === 'close' || this.#isSign('|') || this.#isSign(')')) break;
      operands.push(this.#parseNested(() => this.#parseOperand()));
      if (!this.#isOperandEnd()) throw new TemplateError(`${JSON.stringify(this.#token.text)} is unexpected`);
    }
    if (operands.length === 0) throw new TemplateError('a value is missing');
    return operands;
  }

  #isOperandEnd(): boolean {
    const { kind } = this.#token;
    return kind === 'space' || kind === 'close' || this.#isSign('|') || this.#isSign(')');
  }

  #parseOperand(): Operand {
    let operand = this.#parseTerm();
    for (let count = 0; this.#token.kind === 'field'; count++) {
      if (count >= maxDepth) throw new TemplateError(`it is nested more than ${maxDepth} levels deep`);
      operand = { kind: 'field', object: operand, name: this.#takeToken().text };
    }
    return operand;
  }

  #parseTerm(): Operand {
    const { kind, text } = this.#takeToken();
    switch (kind) {
      case 'string':
        return { kind: 'constant', value: text };
      case 'int':
        return {
          kind: 'constant',
          value: text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace('+', '')),
        };
      case 'float':
        return { kind: 'constant', value: Number(text) };
      case 'variable':
        return { kind, name: this.#requireVariable(text) };
      case 'field':
        return { kind, object: { kind: 'dot' }, name: text };
      case 'word':
        return this.#parseName(text);
      default:
        if (text === '.') return { kind: 'dot' };
        if (text === '(') return { kind: 'pipeline', pipeline: this.#parsePipeline(')') };
        throw new TemplateError(kind === 'end' ? '}} is missing' : `${JSON.stringify(text)} is unexpected`);
    }
  }

  #parseName(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'constant', value: name === 'true' };
    if (name === 'nil') return { kind: 'nil' };
    if (!this.#isKnownFunction(name)) throw new TemplateError(`the function ${name} is unknown here`);
    return { kind: 'function', name };
  }
}

/** Parses a template. Throws `TemplateError` for an invalid template. */
export const parseTemplate = (source: string, isKnownFunction: (name: string) => boolean): readonly Node[] =>
  new Parser(tokenize(source), isKnownFunction).run();
