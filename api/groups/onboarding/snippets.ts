import { z } from 'zod';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { buildEndpoints } from './endpoints.ts';
import { keyPlaceholder, type Snippet } from './snippet.ts';
import { collectorSnippets } from './snippets-collectors.ts';
import { languageSnippets } from './snippets-languages.ts';

export const snippets: readonly Snippet[] = [...languageSnippets, ...collectorSnippets];

export const listSnippets = defineOperation({
  method: 'GET',
  path: '/api/onboarding/snippets',
  operationId: 'listOnboardingSnippets',
  summary: 'Get configuration snippets per language and collector, with this installation’s endpoints',
  role: 'viewer',
  query: z.strictObject({
    id: z.string().max(64).optional().describe('Id of one snippet, for example node'),
    signal: z.enum(signals).optional().describe('Only snippets that send this signal'),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        kind: z.enum(['language', 'collector', 'agent', 'shell']),
        signals: z.array(z.enum(signals)),
        pieces: z.array(z.strictObject({ name: z.string(), language: z.string(), text: z.string() })),
      }),
    ),
    nextCursor: z.null(),
    endpoints: z.strictObject({
      otlpHttp: z.string(),
      otlpGrpc: z.string(),
      otlpHttpBare: z.string(),
      remoteWrite: z.string(),
      loki: z.string(),
      zipkin: z.string(),
    }),
    keyPlaceholder: z.string().describe('Placeholder for the license key in the snippets'),
  }),
  handler({ query, request }, { settings }) {
    const endpoints = buildEndpoints(settings, request.host);
    const matchingSnippets = snippets.filter(
      (snippet) =>
        (query.id === undefined || snippet.id === query.id) &&
        (query.signal === undefined || snippet.signals.includes(query.signal)),
    );
    return {
      items: matchingSnippets.map(({ pieces, signals: snippetSignals, ...rest }) => ({
        ...rest,
        signals: [...snippetSignals],
        pieces: pieces(endpoints).map((piece) => ({ ...piece })),
      })),
      nextCursor: null,
      endpoints: { ...endpoints },
      keyPlaceholder,
    };
  },
});
