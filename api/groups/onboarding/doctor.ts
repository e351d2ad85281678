import { z } from 'zod';
import { LicenseKeyUse } from '../../../schemas/resources/license-key-use.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { checkEndpoint, protocols } from './doctor-attempt.ts';
import { checkEvidence } from './doctor-evidence.ts';
import { checkKey, checkKeyFormat, unknownKeyFinding } from './doctor-key.ts';
import { findKey, readEvidence } from './doctor-reads.ts';
import { findResponseProblems } from './doctor-response.ts';
import { buildEndpoints } from './endpoints.ts';
import { chooseVerdict, Finding, findingCodes, sortFindings } from './finding.ts';

const Time = z.iso.datetime().nullable();

export const runDoctor = defineOperation({
  method: 'POST',
  path: '/api/onboarding/doctor',
  operationId: 'askOnboardingDoctor',
  summary: 'Diagnose why no data arrives: what happened to the data sent with a license key, and what to do next',
  role: 'admin',
  auditExemption: 'it changes nothing, and the pasted key must not be stored',
  maxBodyBytes: 16 * 1024,
  body: z.strictObject({
    key: z.string().min(1).max(512).describe('License key of the sender; it is not stored'),
    endpoint: z.string().min(1).max(2048).optional().describe('Endpoint as configured in the sender'),
    protocol: z.enum(protocols).optional(),
    signal: z.enum(signals).optional(),
    status: z
      .int()
      .min(0)
      .max(599)
      .optional()
      .describe('Response that the sender received: HTTP status or gRPC code (0–16)'),
    error: z.string().max(2048).optional().describe('Error message that the sender logged'),
    source: z.union([z.ipv4(), z.ipv6()]).optional().describe('IP address of the sender'),
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
        lastUsedAt: Time.describe('At most a minute old'),
        lastRefusal: LicenseKeyUse.shape.lastRefusal.describe(
          'The last request with the key that was rejected before its body was read',
        ),
      })
      .nullable()
      .describe('null if it is not a key of this organization'),
    landed: z
      .strictObject({ logs: Time, metrics: Time, traces: Time })
      .nullable()
      .describe('When records of the key’s project were last stored, within the last day'),
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
    const attemptFindings = [
      checkEndpoint(body, buildEndpoints(settings, request.host)),
      ...findResponseProblems(body),
    ].filter((finding) => finding !== undefined);
    const formatProblem = checkKeyFormat(body.key);
    const foundKey = formatProblem === undefined ? await findKey(documents, caller.tenantId, body.key) : undefined;
    if (foundKey === undefined) {
      const findings = sortFindings([
        formatProblem ?? unknownKeyFinding,
        ...attemptFindings.filter(({ code }) => code !== 'other-key-sent'),
      ]);
      return { verdict: chooseVerdict(findings), findings, key: null, landed: null, refused: [] };
    }
    const context = { signal: body.signal, source: body.source, nowMs: clock.now() };
    const evidence = await readEvidence(foundKey, body.signal, caller, ports);
    const validityFindings = checkKey(foundKey, caller.plan, context);
    // A problem of the key itself already explains the status “unauthenticated”.
    const hasKeyProblem = validityFindings.some(({ level }) => level === 'problem');
    const findings = sortFindings([
      ...validityFindings,
      ...checkEvidence(evidence, context),
      ...attemptFindings.filter(({ code }) => !hasKeyProblem || code !== 'other-key-sent'),
    ]);
    const { id, name, prefix, projectId, signals: allowedSignals } = foundKey.key;
    const { lastUsedAt = null, lastRefusal = null } = evidence.use ?? {};
    return {
      verdict: chooseVerdict(findings),
      findings,
      key: { id, name, prefix, projectId, signals: [...allowedSignals], lastUsedAt, lastRefusal },
      landed: { ...evidence.lastStored },
      refused: evidence.deadLetters.map((deadLetter) => ({
        id: deadLetter.id,
        receivedAt: deadLetter.receivedAt,
        signal: deadLetter.signal,
        reason: deadLetter.reason,
        message: deadLetter.message,
        position: deadLetter.position,
      })),
    };
  },
});
