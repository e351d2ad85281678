/** A tool of the MCP server: one operation of the API, with fewer and shorter results than over HTTP. */
import type { z } from 'zod';
import { getSchemaProperties, parsePathParameters, toJsonSchema } from '../kernel/openapi.ts';
import type { Operation } from '../kernel/operation.ts';

export type Json = Readonly<Record<string, unknown>>;
export type ToolArguments = Readonly<Record<string, unknown>>;

/** Parts of a request to the operation of a tool */
export interface ToolRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Declaration of a tool. Its input schema, rights and validation are those of the operation. */
export interface ToolDefinition {
  /** Name that clients show and call, in snake case */
  readonly name: string;
  readonly title: string;
  /** What the tool returns and when to use it; the client's model reads it to choose a tool. */
  readonly description: string;
  readonly operationId: string;
  /** Parameters of the operation that the tool has; all by default. */
  readonly parameters?: readonly string[];
  /** Values of parameters that a call leaves out */
  readonly defaults?: (toolArguments: ToolArguments, nowMs: number) => ToolArguments;
  /** Own parameters of a tool whose operation has too many, with the body that they stand for */
  readonly input?: { readonly schema: z.ZodType; readonly toBody: (toolArguments: ToolArguments) => unknown };
  /** Selects what a client needs of the operation's response. Values are unchanged, unless the description says so. */
  readonly summarize?: (response: Json) => unknown;
  /** Path in the page that shows the same */
  readonly getPath?: (toolArguments: ToolArguments, response: Json) => string | undefined;
}

/** A tool with the operation that it calls. */
export interface Tool extends ToolDefinition {
  readonly operation: Operation;
  /** Whether the tool changes something, so that it needs a write scope */
  readonly isWrite: boolean;
  readonly inputSchema: Json;
}

const maxTokensSchema = {
  type: 'integer',
  minimum: 200,
  maximum: 20_000,
  default: 2000,
  description: 'Size limit of the result in tokens, estimated as 4 bytes each. Longer texts and lists are shortened.',
};

/** Parameters that a tool decides itself */
const hiddenParameters = ['scope', 'apdexThresholdMs'];

/** Keywords that do not help to choose a value; the operation checks them. */
const omittedKeywords = ['minLength', 'maxLength', 'pattern', 'additionalProperties'];

const omitKeywords = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(omitKeywords);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !omittedKeywords.includes(keyword))
      .map(([keyword, value]) => [keyword, omitKeywords(value)]),
  );
};

const buildInputSchema = (definition: ToolDefinition, operation: Operation): Json => {
  const schemas = [operation.params, operation.query, definition.input?.schema ?? operation.body].filter(
    (schema) => schema !== undefined,
  );
  const properties: Record<string, unknown> = {};
  const required = new Set(parsePathParameters(operation.path));
  for (const schema of schemas) {
    const json = toJsonSchema(schema, 'input');
    for (const [name, property] of Object.entries((json['properties'] as Json | undefined) ?? {}))
      if (definition.parameters?.includes(name) ?? !hiddenParameters.includes(name))
        properties[name] = omitKeywords(property);
    for (const name of (json['required'] as readonly string[] | undefined) ?? []) required.add(name);
  }
  for (const name of parsePathParameters(operation.path)) properties[name] ??= { type: 'string' };
  const defaulted = Object.keys(definition.defaults?.({}, 0) ?? {});
  return {
    type: 'object',
    properties: { ...properties, maxTokens: maxTokensSchema },
    required: [...required].filter((name) => name in properties && !defaulted.includes(name)),
    additionalProperties: false,
  };
};

export const createTool = (definition: ToolDefinition, operations: readonly Operation[]): Tool => {
  const operation = operations.find(({ operationId }) => operationId === definition.operationId);
  if (operation === undefined) throw new Error(`the tool ${definition.name} names no operation`);
  return {
    ...definition,
    operation,
    isWrite: operation.scope?.endsWith(':write') === true,
    inputSchema: buildInputSchema(definition, operation),
  };
};

type Part = keyof ToolRequest;

/** Returns the part of the request that has a parameter. Unknown names go to the query, which rejects them. */
const createPartFinder = ({ operation, input }: Tool): ((name: string) => Part) => {
  const inPath = new Set(parsePathParameters(operation.path));
  const inQuery = new Set(Object.keys(getSchemaProperties(operation.query)));
  const inBody = new Set(Object.keys(getSchemaProperties(input?.schema ?? operation.body)));
  return (name) => {
    if (inPath.has(name)) return 'params';
    return inBody.has(name) && !inQuery.has(name) ? 'body' : 'query';
  };
};

const toParameter = (value: unknown): string | readonly string[] =>
  Array.isArray(value) ? value.map(String) : String(value);

/** Distributes the arguments of a call over path, query and body. */
export const toRequest = (tool: Tool, toolArguments: ToolArguments): ToolRequest => {
  const findPart = createPartFinder(tool);
  const given = Object.entries(toolArguments).filter(([, value]) => value !== undefined && value !== null);
  const select = (part: Part, convert: (value: unknown) => unknown): Record<string, unknown> =>
    Object.fromEntries(
      given.filter(([name]) => findPart(name) === part).map(([name, value]) => [name, convert(value)]),
    );
  const params = select('params', String) as Record<string, string>;
  const query = select('query', toParameter);
  const body = select('body', (value) => value);
  if (tool.operation.body === undefined) return { params, query, body: undefined };
  return { params, query, body: tool.input === undefined ? body : tool.input.toBody(body) };
};
