import { z } from 'zod';
import { regexOf } from '../../../queries/search/regex.ts';
import type { Problem } from '../assertions.ts';
import { jsonPathProblem } from '../json-path.ts';
import { templateName, templateUses, textsIn } from '../templates.ts';
import { hostIn, urlProblem } from './address.ts';
import { defineCheckType, problemsAt } from './definition.ts';
import { headerProblems, headers } from './sent-headers.ts';
import { assertions, problemsOf } from './socket-settings.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const Authentication = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('basic'), user: z.string().max(256), password: z.string().max(1024) }),
    z.strictObject({ type: z.literal('bearer'), token: z.string().min(1).max(8192) }),
  ])
  .nullable()
  .default(null)
  .describe('Secrets stand there as {{variables.NAME}}');

const Extract = z.strictObject({
  as: z.string().regex(templateName, 'must be a name of letters, digits, _ and -'),
  source: z.enum(['json', 'header', 'body']),
  path: z
    .string()
    .min(1)
    .max(1024)
    .describe('A JSONPath, the name of a header, or an expression (RE2) whose first group counts'),
});

/** One request. */
export const HttpStep = z.strictObject({
  name: z.string().max(256).default(''),
  method: z.enum(methods).default('GET'),
  url: z.string().min(1).max(4096),
  headers,
  body: z.string().max(100_000).nullable().default(null),
  authentication: Authentication,
  redirects: z.int().min(0).max(20).default(5).describe('How many are followed; with 0 the redirect is the answer'),
  verifyCertificate: z.boolean().default(true),
  assertions: assertions.describe('Without one of the status, it must be below 400'),
  extract: z.array(Extract).max(20).default([]),
});
export type HttpStep = z.output<typeof HttpStep>;

const sources = [
  ...(['status', 'header', 'body', 'json', 'size', 'duration', 'phase', 'redirects', 'protocol'] as const),
  'certificate' as const,
];

const extractProblem = ({ source, path }: z.output<typeof Extract>): string | undefined => {
  if (source === 'json') return jsonPathProblem(path);
  if (source === 'header') return undefined;
  const regex = regexOf(path);
  return typeof regex === 'string' ? `is no regular expression (RE2): ${regex}` : undefined;
};

const stepProblems = (step: HttpStep): readonly Problem[] => {
  const url = urlProblem(step.url, ['http', 'https']);
  return [
    ...(url === undefined ? [] : [{ path: 'url', message: url }]),
    ...headerProblems(step.headers, 'headers'),
    ...problemsOf(step.assertions, sources),
    ...step.extract.flatMap((each, index) => {
      const message = extractProblem(each);
      return message === undefined ? [] : [{ path: `extract.${index}.path`, message }];
    }),
  ];
};

/** Values that no step before makes. */
const unmadeValues = (steps: readonly HttpStep[]): readonly Problem[] => {
  const values = new Set<string>();
  return steps.flatMap((step, index) => {
    const { extract, assertions: asserted, ...sent } = step;
    const missing = textsIn(sent, `steps.${index}`).flatMap(({ path, text }) =>
      templateUses(text).flatMap((use) =>
        typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
          ? []
          : [{ path, message: `reads the value ${use.name}, which no step before it extracts` }],
      ),
    );
    for (const { as } of extract) values.add(as);
    // What is asserted is judged after the step's own values are there.
    const asked = textsIn(asserted, `steps.${index}.assertions`).flatMap(({ path, text }) =>
      templateUses(text).flatMap((use) =>
        typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
          ? []
          : [{ path, message: `reads the value ${use.name}, which no step extracts up to here` }],
      ),
    );
    return [...missing, ...asked];
  });
};

export const http = defineCheckType({
  type: 'http',
  name: 'HTTP',
  summary: 'One or several requests, each of which may read what those before it answered.',
  settings: z.strictObject({ steps: z.array(HttpStep).min(1).max(20) }),
  phases: ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'],
  problems: ({ steps }) => [
    ...steps.flatMap((step, index) => problemsAt(`steps.${index}`, stepProblems(step))),
    ...unmadeValues(steps),
  ],
  targets: ({ steps }) =>
    steps.map((step, index) => ({
      path: `steps.${index}.url`,
      host: hostIn(step.url),
      texts: textsIn(step, `steps.${index}`),
    })),
});
