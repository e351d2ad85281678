import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { buildEndpoints } from './endpoints.ts';
import { keyPlaceholder, type Snippet, snippetKinds } from './snippet.ts';
import { applicationPlaceholder, browserKeyPlaceholder, browserSnippets } from './snippets-browsers.ts';
import { collectorSnippets } from './snippets-collectors.ts';
import { languageSnippets } from './snippets-languages.ts';

export const snippets: readonly Snippet[] = [...languageSnippets, ...browserSnippets, ...collectorSnippets];

/** Returns a browser key that works, the newest one by default. Pages show it, so every viewer may. */
const findBrowserKey = async (
  documents: TenantDocuments,
  nowMs: number,
  requested: string | undefined,
): Promise<{ readonly key: string; readonly application: string } | undefined> => {
  const { items } = await documents
    .collection(licenseKeys)
    .list({ filter: { kind: 'browser', revokedAt: null }, sort: { createdAt: -1 }, limit: 100 });
  const snippet = items.find(
    ({ expiresAt, publicKey }) =>
      (requested === undefined || publicKey === requested) && (expiresAt === null || Date.parse(expiresAt) > nowMs),
  );
  return snippet?.publicKey === undefined || snippet.application === null
    ? undefined
    : { key: snippet.publicKey, application: snippet.application };
};

export const listSnippets = defineOperation({
  method: 'GET',
  path: '/api/onboarding/snippets',
  operationId: 'listOnboardingSnippets',
  summary: 'Get configuration snippets per language and collector, with this installation’s endpoints',
  role: 'viewer',
  query: z.strictObject({
    id: z.string().max(64).optional().describe('Id of one snippet, for example node'),
    browserKey: z.string().max(128).optional().describe('Browser key of snippets for pages instead of the newest one'),
    signal: z.enum(signals).optional().describe('Only snippets that send this signal'),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        kind: z.enum(snippetKinds),
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
      opamp: z.string(),
      browsers: z.string(),
    }),
    keyPlaceholder: z.string().describe('Placeholder for the license key in the snippets'),
    browserKey: z
      .strictObject({ key: z.string(), application: z.string() })
      .nullable()
      .describe('Active browser key that the snippets for pages contain; `null` without one'),
  }),
  async handler({ caller, query, request }, { settings, documents, clock }) {
    const browserKey = await findBrowserKey(documents.forTenant(caller.tenantId), clock.now(), query.browserKey);
    const fillIn = (text: string): string =>
      browserKey === undefined
        ? text
        : text
            .replaceAll(browserKeyPlaceholder, browserKey.key)
            .replaceAll(applicationPlaceholder, browserKey.application);
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
        pieces: pieces(endpoints).map((piece) => ({ ...piece, text: fillIn(piece.text) })),
      })),
      nextCursor: null,
      endpoints: { ...endpoints },
      keyPlaceholder,
      browserKey: browserKey ?? null,
    };
  },
});
