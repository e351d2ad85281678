import { z } from 'zod';
import { LicenseKeyUse } from '../../../schemas/resources/license-key-use.ts';
import { signals } from '../../../schemas/topics.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { answerFindings } from './doctor-answer.ts';
import { endpointFinding, protocols } from './doctor-attempt.ts';
import { evidenceFindings } from './doctor-evidence.ts';
import { keyFindings, textFinding, unknownKey } from './doctor-key.ts';
import { findKey, readEvidence } from './doctor-reads.ts';
import { endpointsOf } from './endpoints.ts';
import { Finding, findingCodes, ordered, verdictOf } from './finding.ts';

const Time = z.iso.datetime().nullable();

export const askDoctor = defineOperation({
  method: 'POST',
  path: '/api/onboarding/doctor',
  operationId: 'askOnboardingDoctor',
  summary: 'Why nothing arrives: what became of what a license key sent, and what to do',
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
        lastUsedAt: Time.describe('At most a minute behind'),
        lastRefusal: LicenseKeyUse.shape.lastRefusal.describe('The last request with it that was refused unread'),
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
  async handler({ caller, body, request }, ports) {
    const { documents, settings, clock } = ports;
    const attempted = [endpointFinding(body, endpointsOf(settings, request.host)), ...answerFindings(body)].filter(
      (finding) => finding !== undefined,
    );
    const misspelt = textFinding(body.key);
    const found = misspelt === undefined ? await findKey(documents, caller.tenantId, body.key) : undefined;
    if (found === undefined) {
      const findings = ordered([misspelt ?? unknownKey, ...attempted.filter(({ code }) => code !== 'other-key-sent')]);
      return { verdict: verdictOf(findings), findings, key: null, landed: null, refused: [] };
    }
    const about = { signal: body.signal, source: body.source, nowMs: clock.now() };
    const evidence = await readEvidence(found, body.signal, caller, ports);
    const inForce = keyFindings(found, caller.plan, about);
    // “Unauthenticated” is explained by a key that is over.
    const isOver = inForce.some(({ level }) => level === 'problem');
    const findings = ordered([
      ...inForce,
      ...evidenceFindings(evidence, about),
      ...attempted.filter(({ code }) => !isOver || code !== 'other-key-sent'),
    ]);
    const { id, name, prefix, projectId, signals: allowed } = found.key;
    const { lastUsedAt = null, lastRefusal = null } = evidence.use ?? {};
    return {
      ...{ verdict: verdictOf(findings), findings },
      key: { id, name, prefix, projectId, signals: [...allowed], lastUsedAt, lastRefusal },
      landed: { ...evidence.landed },
      refused: evidence.letters.map((letter) => ({
        ...{ id: letter.id, receivedAt: letter.receivedAt, signal: letter.signal },
        ...{ reason: letter.reason, message: letter.message, position: letter.position },
      })),
    };
  },
});
