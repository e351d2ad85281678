import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Documents, Stored } from '../../../schemas/documents.ts';
import { type LicenseKey, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { signals } from '../../../schemas/topics.ts';
import { defineOperation } from '../../http/operation.ts';
import { answerFindings } from './doctor-answer.ts';
import { endpointFinding, protocols } from './doctor-attempt.ts';
import { arrivalFinding, landedOf, quotaFinding, refusedFinding } from './doctor-evidence.ts';
import { keyFindings, textFinding, unknownKey } from './doctor-key.ts';
import { endpointsOf } from './endpoints.ts';
import { Finding, findingCodes, ordered, verdictOf } from './finding.ts';

const dayMs = 86_400_000;
const shownLetters = 5;

const Time = z.iso.datetime().nullable();

export const askDoctor = defineOperation({
  method: 'POST',
  path: '/api/onboarding/doctor',
  operationId: 'askOnboardingDoctor',
  summary: 'Why nothing arrives: what became of what a license key sent, and what to do',
  group: 'onboarding',
  role: 'admin',
  unaudited: 'it changes nothing, and the key that is pasted must be kept nowhere',
  maxBodyBytes: 16 * 1024,
  body: z.strictObject({
    key: z.string().min(1).max(512).describe('The license key that the sender has; it is kept nowhere'),
    endpoint: z.string().min(1).max(2048).optional().describe('As it was given to the sender'),
    protocol: z.enum(protocols).optional(),
    signal: z.enum(signals).optional(),
    status: z
      .int()
      .min(0)
      .max(599)
      .optional()
      .describe('What the sender was answered: HTTP status or gRPC code (0–16)'),
    error: z.string().max(2048).optional().describe('What the sender logged'),
    source: z.union([z.ipv4(), z.ipv6()]).optional().describe('Address from which the sender reaches us'),
  }),
  response: z.strictObject({
    verdict: z.enum(findingCodes),
    findings: z.array(Finding),
    key: z
      .strictObject({
        id: z.string(),
        name: z.string(),
        prefix: z.string(),
        projectId: z.string(),
        signals: z.array(z.enum(signals)),
      })
      .nullable()
      .describe('Null where it is none of this organization’s keys'),
    landed: z
      .strictObject({ logs: Time, metrics: Time, traces: Time })
      .nullable()
      .describe('When records of the key’s project last landed, within a day'),
    refused: z.array(
      z.strictObject({
        id: z.string(),
        receivedAt: z.iso.datetime(),
        signal: z.string(),
        reason: z.string(),
        message: z.string(),
        position: z.number().nullable(),
      }),
    ),
  }),
  async handler({ caller, body, request }, { documents, columns, counters, deadLetters, settings, clock }) {
    const { tenantId, plan } = caller;
    const nowMs = clock.now();
    const attempted = [
      endpointFinding(body, endpointsOf(settings, request.host)),
      ...answerFindings(body).filter(({ code }) => code !== 'other-key-sent'),
    ].filter((finding) => finding !== undefined);
    const misspelt = textFinding(body.key);
    const key = misspelt === undefined ? await keyOf(documents, tenantId, body.key) : undefined;
    if (key === undefined) {
      const findings = ordered([misspelt ?? unknownKey, ...attempted]);
      return { verdict: verdictOf(findings), findings, key: null, landed: null, refused: [] };
    }
    const [landed, letters, quota] = await Promise.all([
      landedOf(columns, { tenantId, projectId: key.projectId, nowMs }),
      deadLetters.list(
        { tenantId, keyId: key.id, kind: 'refused', signal: body.signal, state: 'open', fromMs: nowMs - dayMs },
        { limit: shownLetters },
      ),
      quotaFinding(counters, tenantId, plan),
    ]);
    const inForce = keyFindings(key, plan, { ...body, signal: body.signal, source: body.source, nowMs });
    const findings = ordered(
      [
        ...inForce,
        quota,
        refusedFinding(letters.items, landed),
        ...attempted,
        ...(inForce.some(({ level }) => level === 'problem') ? [] : answerFindings(body)),
        arrivalFinding(landed, { signal: body.signal, lastUsedAt: null, nowMs }),
      ].filter((finding) => finding !== undefined),
    );
    return {
      verdict: verdictOf(findings),
      findings,
      key: { id: key.id, name: key.name, prefix: key.prefix, projectId: key.projectId, signals: [...key.signals] },
      landed: { ...landed },
      refused: letters.items.map(({ id, receivedAt, signal, reason, message, position }) => ({
        ...{ id, receivedAt, signal },
        ...{ reason, message, position },
      })),
    };
  },
});

/** Another organization's key is not found by the same query that does not find one that nobody has. */
const keyOf = async (
  documents: Documents,
  tenantId: string,
  secret: string,
): Promise<(LicenseKey & Stored) | undefined> => {
  const hash = createHash('sha256').update(secret).digest('hex');
  const found = await documents.of(tenantId).collection(licenseKeys).list({ filter: { hash }, limit: 1 });
  return found.items[0];
};
