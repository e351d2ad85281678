import { z } from 'zod';
import { compileRegex } from '../../../queries/search/regex.ts';
import type { Problem } from '../assertions.ts';
import { findJsonPathProblem } from '../json-path.ts';
import { listTexts, parseTemplateUses, templateNamePattern } from '../templates.ts';
import { findXPathProblem } from '../x-path.ts';
import { findUrlProblem, parseHost } from './address.ts';
import { defineCheckType, prefixPaths } from './definition.ts';
import { isSecretValue } from './secret-value.ts';
import { findHeaderProblems, headers } from './sent-headers.ts';
import { assertions, findProblems } from './socket-settings.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Credentials must not be stored in a check; they are variables, which are sealed and masked. */
const secretText = z
  .string()
  .max(256)
  .regex(/^\{\{\s*variables\.[\w-]+\s*\}\}$/, 'must be a variable: {{variables.NAME}}');

const ClientCredentials = z.strictObject({
  type: z.literal('oauth2'),
  tokenUrl: z
    .string()
    .min(1)
    .max(4096)
    .describe('URL that issues an access token for client credentials (RFC 6749, 4.4)'),
  clientId: z.string().min(1).max(1024),
  clientSecret: secretText,
  scope: z.string().max(2048).default(''),
  audience: z.string().max(2048).default(''),
  sentIn: z
    .enum(['header', 'body'])
    .default('header')
    .describe('How the client authenticates: in the header (basic), or in the form body'),
});
export type ClientCredentials = z.output<typeof ClientCredentials>;

const Authentication = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('basic'), user: z.string().max(256), password: z.string().max(1024) }),
    z.strictObject({ type: z.literal('bearer'), token: z.string().min(1).max(8192) }),
    ClientCredentials,
  ])
  .nullable()
  .default(null)
  .describe('Authentication; secrets are referenced as `{{variables.NAME}}`');

const ClientCertificate = z
  .strictObject({
    certificate: z.string().min(1).max(65_536).describe('PEM certificate with its chain'),
    key: secretText.describe('PEM private key'),
  })
  .nullable()
  .default(null)
  .describe('Client certificate for a server that requests one');

const Extract = z.strictObject({
  as: z.string().regex(templateNamePattern, 'must consist of letters, digits, _ and -'),
  source: z.enum(['json', 'xml', 'header', 'body']),
  path: z
    .string()
    .min(1)
    .max(1024)
    .describe('A JSONPath, an XPath, the name of a header, or an RE2 expression whose first group is the value'),
  isSecret: isSecretValue,
});

/** One request. */
export const HttpStep = z.strictObject({
  name: z.string().max(256).default(''),
  method: z.enum(methods).default('GET'),
  url: z.string().min(1).max(4096),
  headers: headers.describe('Headers; `host` is also the name for TLS, and `user-agent` replaces that of the probe'),
  body: z.string().max(100_000).nullable().default(null),
  authentication: Authentication,
  clientCertificate: ClientCertificate,
  redirects: z
    .int()
    .min(0)
    .max(20)
    .default(5)
    .describe('Maximum number of redirects to follow; with 0, the redirect is the response'),
  verifyCertificate: z.boolean().default(true),
  assertions: assertions.describe('Assertions; without one on the status, it must be below 400'),
  extract: z.array(Extract).max(20).default([]),
});
export type HttpStep = z.output<typeof HttpStep>;

const sources = [
  ...(['status', 'header', 'body', 'json', 'xml', 'size', 'duration', 'phase', 'redirects', 'protocol'] as const),
  'certificate' as const,
];

const findExtractProblem = ({ source, path }: z.output<typeof Extract>): string | undefined => {
  if (source === 'json') return findJsonPathProblem(path);
  if (source === 'xml') return findXPathProblem(path);
  if (source === 'header') return undefined;
  const regex = compileRegex(path);
  return typeof regex === 'string' ? `is not a valid regular expression (RE2): ${regex}` : undefined;
};

const findCredentialProblems = ({ url, authentication, clientCertificate }: HttpStep): readonly Problem[] => {
  const isHttpWithCertificate = clientCertificate !== null && /^http:/i.test(url);
  const certificateProblems = isHttpWithCertificate
    ? [{ path: 'clientCertificate', message: 'is allowed for https only' }]
    : [];
  if (authentication?.type !== 'oauth2') return certificateProblems;
  const tokenUrlProblem = findUrlProblem(authentication.tokenUrl, ['http', 'https']);
  return [
    ...certificateProblems,
    ...(tokenUrlProblem === undefined ? [] : [{ path: 'authentication.tokenUrl', message: tokenUrlProblem }]),
    // The requested access token is as sensitive as the credentials.
    ...(parseHost(url) === undefined
      ? [{ path: 'url', message: 'must contain the literal host, because an access token is sent to it' }]
      : []),
  ];
};

/** Separates the values of a step that are sent to its URL from those that are sent to its token endpoint. */
export const splitCredentials = <Step extends Pick<HttpStep, 'authentication'>>(step: Step) => {
  const { authentication, ...rest } = step;
  return authentication?.type === 'oauth2' ? { own: rest, client: authentication } : { own: step, client: undefined };
};

const findStepProblems = (step: HttpStep): readonly Problem[] => {
  const url = findUrlProblem(step.url, ['http', 'https']);
  return [
    ...(url === undefined ? [] : [{ path: 'url', message: url }]),
    ...findHeaderProblems(step.headers, 'headers'),
    ...findCredentialProblems(step),
    ...findProblems(step.assertions, sources),
    ...step.extract.flatMap((each, index) => {
      const message = findExtractProblem(each);
      return message === undefined ? [] : [{ path: `extract.${index}.path`, message }];
    }),
  ];
};

/** Returns problems for values that no previous step extracts. */
const findMissingValues = (steps: readonly HttpStep[]): readonly Problem[] => {
  const values = new Set<string>();
  return steps.flatMap((step, index) => {
    const { extract, assertions: stepAssertions, ...sent } = step;
    const missingValueProblems = listTexts(sent, `steps.${index}`).flatMap(({ path, text }) =>
      parseTemplateUses(text).flatMap((use) =>
        typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
          ? []
          : [{ path, message: `uses the value ${use.name}, which no earlier step extracts` }],
      ),
    );
    for (const { as } of extract) values.add(as);
    // Assertions are evaluated after the step's own values are extracted.
    const assertionProblems = listTexts(stepAssertions, `steps.${index}.assertions`).flatMap(({ path, text }) =>
      parseTemplateUses(text).flatMap((use) =>
        typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
          ? []
          : [{ path, message: `uses the value ${use.name}, which no step extracts before it` }],
      ),
    );
    return [...missingValueProblems, ...assertionProblems];
  });
};

export const http = defineCheckType({
  type: 'http',
  name: 'HTTP',
  summary: 'One or several requests, each of which may use values from previous responses.',
  settings: z.strictObject({
    steps: z.array(HttpStep).min(1).max(20),
    storeCookies: z
      .boolean()
      .default(true)
      .describe('Whether cookies of responses are sent with later requests of the run, as a browser does'),
  }),
  phases: ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'],
  problems: ({ steps }) => [
    ...steps.flatMap((step, index) => prefixPaths(`steps.${index}`, findStepProblems(step))),
    ...findMissingValues(steps),
  ],
  targets: ({ steps }) =>
    steps.flatMap((step, index) => {
      const path = `steps.${index}`;
      const { own, client } = splitCredentials(step);
      const target = { path: `${path}.url`, host: parseHost(step.url), texts: listTexts(own, path) };
      if (client === undefined) return [target];
      const authenticationPath = `${path}.authentication`;
      const source = {
        path: `${authenticationPath}.tokenUrl`,
        host: parseHost(client.tokenUrl),
        texts: listTexts(client, authenticationPath),
      };
      return [target, source];
    }),
});
