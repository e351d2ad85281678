import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { errorStatuses, type UnknownPathErrors } from '../errors.ts';
import type { Operation } from './operation.ts';

type Json = Readonly<Record<string, unknown>>;

/** Authentication methods of callers */
export const securitySchemes = {
  cookie: { type: 'apiKey', in: 'cookie', name: 'oiq_token', description: 'Set by POST /auth/login' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token from POST /auth/login' },
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'oiq_sa_…',
    description: 'An API token of a service account, with the scope of the operation',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'An API token of a service account as the password, with any user name; the token needs the scope of the operation',
  },
} as const;

/** A group in the document: the tag of its operations. */
export interface DocumentedGroup {
  readonly name: string;
  readonly summary: string;
  /** Error responses for unknown paths */
  readonly elsewhere?: UnknownPathErrors | undefined;
}

/**
 * Returns the management API as OpenAPI 3.1.0, derived from the declared operations and their groups. Schemas take half
 * a second of CPU time, so other work runs after each operation.
 */
export const createOpenApiDocument = async (
  operations: readonly Operation[],
  groups: readonly DocumentedGroup[],
): Promise<Json> => {
  const paths: Record<string, Record<string, unknown>> = {};
  const visibleOperations = operations.filter(({ hidden }) => !hidden);
  for (const operation of visibleOperations) {
    const item = paths[operation.path] ?? {};
    paths[operation.path] = item;
    item[operation.method.toLowerCase()] = toOperationObject(operation);
    await setImmediate();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'OIQ management API',
      version: '1.0.0',
      description:
        'The management API of the product. Each path under `/api/` is also available under `/api/tenants/{tenantId}/`. The session determines the organization; a request that names another one is rejected. A query parameter without a value (`?limit=`) counts as absent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: groups.map(({ name, summary }) => ({ name, description: summary })),
    paths,
    components: {
      schemas: { Error: errorSchema },
      responses: Object.fromEntries(
        [...new Set(Object.values(errorStatuses))].map((status) => [`Error${status}`, createErrorResponse(status)]),
      ),
      securitySchemes,
    },
  };
};

const errorSchema = {
  type: 'object',
  required: ['error', 'message', 'requestId'],
  properties: {
    error: { type: 'string', enum: Object.keys(errorStatuses), description: 'Stable error code for programs' },
    message: { type: 'string', description: 'Error message for people' },
    requestId: { type: 'string', description: 'Id of the request in the logs' },
    details: {
      type: 'array',
      description: 'Present for VALIDATION_FAILED',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

const createErrorResponse = (status: number): Json => ({
  description: Object.entries(errorStatuses)
    .filter(([, errorStatus]) => errorStatus === status)
    .map(([code]) => code)
    .join(', '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

const toOperationObject = (operation: Operation): Json => ({
  operationId: operation.operationId,
  summary: operation.summary,
  description: describeRequirements(operation),
  tags: [operation.group],
  security: toSecurity(operation),
  ...(operation.built ? {} : { 'x-oiq-built': false }),
  'x-oiq-role': operation.role,
  ...(operation.scope === undefined ? {} : { 'x-oiq-scope': operation.scope }),
  ...(operation.entitlement === undefined ? {} : { 'x-oiq-entitlement': operation.entitlement }),
  parameters: [
    ...createPathParameters(operation),
    ...createQueryParameters(operation),
    ...createVersionParameters(operation),
  ],
  ...(operation.form
    ? {
        requestBody: {
          required: false,
          description: 'Parameters, here or in the query',
          content: {
            'application/x-www-form-urlencoded': { schema: toJsonSchema(operation.query ?? z.object({}), 'input') },
          },
        },
      }
    : {}),
  ...(operation.body === undefined
    ? {}
    : {
        requestBody: {
          required: !operation.body.safeParse(undefined).success,
          content: {
            ...Object.fromEntries(
              Object.keys(operation.alsoAccepts ?? {}).map((type) => [
                type,
                { schema: { type: 'string', format: 'binary' } },
              ]),
            ),
            'application/json': { schema: toJsonSchema(operation.body, 'input') },
          },
        },
      }),
  responses: toResponses(operation),
});

const toSecurity = ({ role, scope, basic }: Operation): readonly Json[] => {
  if (role === 'none') return [];
  const session = [{ cookie: [] }, { bearer: [] }];
  if (scope === undefined) return session;
  return [...session, { token: [scope] }, ...(basic === true ? [{ basic: [scope] }] : [])];
};

const describeRequirements = ({ role, entitlement, built, scope }: Operation): string =>
  [
    role === 'none' ? 'No session needed.' : role === 'session' ? 'Any session.' : `Role: at least ${role}.`,
    ...(scope === undefined ? [] : [`API tokens: scope ${scope}.`]),
    ...(entitlement === undefined ? [] : [`Requires ${entitlement} on the plan.`]),
    ...(built ? [] : ['Not implemented yet: returns 501.']),
  ].join(' ');

const toResponses = (operation: Operation): Json => {
  const statuses = new Set([400, 401, 403, 429, 500, 503]);
  // A request for an unknown project also returns 404.
  if (operation.path.includes('{') || 'projectId' in getSchemaProperties(operation.query)) statuses.add(404);
  if (operation.method !== 'GET') for (const status of [404, 409, 412, 413, 415, 428]) statuses.add(status);
  if (operation.failure !== undefined) for (const status of [404, 422]) statuses.add(status);
  if (!operation.built) statuses.add(501);
  const schema = toJsonSchema(operation.response, 'output');
  const types = operation.contentTypes.map((type) => type.split(';')[0] ?? '');
  return {
    200: {
      description: 'Success',
      ...(operation.versions === undefined ? {} : { headers: { ETag: etagHeader } }),
      // YAML is parsed before its validation against a schema, so the document does not describe its content.
      content: Object.fromEntries(types.map((type) => [type, { schema: type.endsWith('/yaml') ? {} : schema }])),
    },
    ...(operation.versions === 'read'
      ? { 304: { description: 'Not modified since the version of If-None-Match' } }
      : {}),
    ...Object.fromEntries(
      [...statuses].map((status) => [
        status,
        operation.failure === undefined ? { $ref: `#/components/responses/Error${status}` } : foreignErrorResponse,
      ]),
    ),
  };
};

/** Errors of an operation in the format of another product */
const foreignErrorResponse = {
  description: 'An error in the format of Prometheus',
  content: { 'application/json': { schema: { type: 'object', required: ['status', 'errorType', 'error'] } } },
};

const etagHeader = { description: 'The version, in quotes', schema: { type: 'string' } };

const createVersionParameters = ({ versions }: Operation): Json[] => {
  if (versions === undefined || versions === 'shown') return [];
  const schema = { type: 'string' };
  if (versions === 'read')
    return [
      { name: 'If-None-Match', in: 'header', required: false, description: 'An ETag; 304 if it still matches', schema },
    ];
  const description = 'An ETag; if it no longer matches, nothing is changed and the response is 412';
  return [{ name: 'If-Match', in: 'header', required: versions === 'require', description, schema }];
};

/** Returns the names of the parameters in a path: `/api/slos/{id}` has `id`. */
export const parsePathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

const createPathParameters = ({ path, params }: Operation): Json[] => {
  const properties = getSchemaProperties(params);
  return parsePathParameters(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: properties[name] ?? { type: 'string', minLength: 1, maxLength: 128 },
  }));
};

const createQueryParameters = ({ query, path, role }: Operation): Json[] => [
  ...Object.entries(getSchemaProperties(query)).map(([name, schema]) => {
    const { description, ...rest } = allowEmpty(schema as QuerySchema);
    return { name, in: 'query', required: false, ...(description && { description }), schema: rest };
  }),
  ...(path.startsWith('/api/') && role !== 'none' ? [tenantParameter] : []),
];

interface QuerySchema {
  readonly description?: string;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

/** Allows the empty string: a parameter without a value counts as absent. */
const allowEmpty = ({ minLength: _, pattern, enum: values, ...rest }: QuerySchema): QuerySchema => ({
  ...rest,
  ...(values === undefined ? {} : { enum: [...values, ''] }),
  ...(pattern === undefined ? {} : { pattern: `^$|${pattern}` }),
});

const tenantParameter = {
  name: 'tenantId',
  in: 'query',
  required: false,
  description: 'Must be the organization of the session',
  schema: { type: 'string', maxLength: 64, pattern: '^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$' },
};

/** Returns the JSON schemas of the members of an input, by name. */
export const getSchemaProperties = (schema: z.ZodType | undefined): Readonly<Record<string, unknown>> =>
  schema === undefined
    ? {}
    : ((toJsonSchema(schema, 'input')['properties'] as Record<string, unknown> | undefined) ?? {});

/** JSON schema of an input or an output. */
export const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    // Omit the e-mail format: validators disagree on valid addresses, and responses may contain addresses that earlier
    // versions accepted.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'email') delete jsonSchema.format;
      // Few client generators derive the items of a tuple by themselves.
      if (jsonSchema.prefixItems !== undefined) {
        jsonSchema.items = { anyOf: jsonSchema.prefixItems.filter((each) => typeof each === 'object') };
        delete jsonSchema.prefixItems;
      }
    },
  });
  return rest;
};
