import { errorStatuses } from '../errors.ts';
import { securitySchemes, toJsonSchema } from './openapi.ts';
import type { Operation } from './operation.ts';
import { closeCodes, type Stream } from './stream.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the WebSockets of the API as AsyncAPI 3.0, derived from the declared streams. */
export const createAsyncApiDocument = (streams: readonly Stream[], operations: readonly Operation[]): Json => ({
  asyncapi: '3.0.0',
  info: {
    title: 'OIQ management API: WebSockets',
    version: '1.0.0',
    description: `Served by the same host as this document. The session, or the token in \`Authorization: Bearer\`, is that of the other operations (\`/api/openapi.json\`); with the session cookie, the page must have the same origin. Until the connection is open, errors have the format of the other operations (${Object.keys(errorStatuses).join(', ')}).`,
    license: { name: 'Apache-2.0' },
  },
  defaultContentType: 'application/json',
  channels: Object.fromEntries(streams.map((stream) => [stream.operationId, toChannel(stream)])),
  operations: Object.fromEntries(streams.map((stream) => [stream.operationId, toOperation(stream, operations)])),
  components: { securitySchemes: Object.fromEntries(securityNames.map((name) => [name, toSecurityScheme(name)])) },
});

const securityNames = Object.keys(securitySchemes) as (keyof typeof securitySchemes)[];

/** AsyncAPI uses `httpApiKey` where OpenAPI uses `apiKey`. */
const toSecurityScheme = (name: keyof typeof securitySchemes): Json => {
  const scheme = securitySchemes[name];
  return scheme.type === 'apiKey' ? { ...scheme, type: 'httpApiKey' } : scheme;
};

const toChannel = ({ path, summary, description, query, messages }: Stream): Json => {
  const { properties = {}, ...schema } = toJsonSchema(query, 'input') as { readonly properties?: object };
  const tenantId = { type: 'string', description: 'Must be the organization of the session' };
  return {
    address: path,
    title: summary,
    description: `${description}\n\n${closingText}`,
    messages: Object.fromEntries(
      Object.entries(messages).map(([name, message]) => [
        name,
        { name, summary: message.summary, payload: toJsonSchema(message.payload, 'output') },
      ]),
    ),
    bindings: {
      ws: { method: 'GET', query: { ...schema, properties: { ...properties, tenantId } }, bindingVersion: '0.1.0' },
    },
  };
};

const closingText = `The connection is closed with one of these codes:\n\n${Object.entries(closeCodes)
  .map(([code, reason]) => `- ${code}: ${reason}`)
  .join('\n')}`;

const toOperation = ({ operationId, summary, rights, messages }: Stream, operations: readonly Operation[]): Json => {
  const requirementTexts = Object.entries(rights.operations).map(([value, operationKey]) => {
    const { role, scope, entitlement } =
      operations.find(({ method, path }) => `${method} ${path}` === operationKey) ?? {};
    const requirements = [`role at least ${role}`, `scope ${scope} of an API token`, `${entitlement} on the plan`];
    return `${rights.parameter}=${value} requires the same as \`${operationKey}\`: ${requirements.join(', ')}.`;
  });
  return {
    action: 'send',
    channel: { $ref: `#/channels/${operationId}` },
    summary,
    description: requirementTexts.join('\n'),
    security: securityNames.map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
    messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/${operationId}/messages/${name}` })),
  };
};
