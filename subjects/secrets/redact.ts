/** Replaces secrets in export requests before they are published. */
import { rewriteRequest } from '../../schemas/otlp/rewrite.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { computeFingerprint } from './finding.ts';
import { mayContainSecret, mayNameSecret } from './prefilter.ts';
import { createRedaction } from './redaction.ts';
import { findSecrets, replaceSecrets } from './scan.ts';

/** What the redaction needs to know of a project. It can be transferred to a thread. */
export interface SecretRedaction {
  readonly tenantId: string;
  readonly fingerprintKey: string;
}

/** Returns a text with `[redacted:rule:id]` in place of each secret. `name` is the name of its attribute. */
export const redactText = (text: string, name: string, { tenantId, fingerprintKey }: SecretRedaction): string =>
  replaceSecrets(text, findSecrets(text, name), ({ rule, secret }) =>
    createRedaction(rule.id, computeFingerprint(fingerprintKey, tenantId, secret)),
  );

/** Returns an export request without secrets; the same bytes if it has none. */
export const redactRequest = (signal: Signal, body: Buffer, redaction: SecretRedaction): Buffer => {
  if (!mayContainSecret(body, 0, body.length)) return body;
  return rewriteRequest(signal, body, {
    removes: () => false,
    mayRewrite: (bytes, start, end, path) => mayContainSecret(bytes, start, end) || mayNameSecret(path, end - start),
    rewrite: (text, path) => redactText(text, path, redaction),
  }).body;
};
