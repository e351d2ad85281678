import { z } from 'zod';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { RuleException } from '../../../schemas/resources/detection-rule.ts';
import { findExceptionError } from '../../../subjects/detections/deployment.ts';
import { maxPreviewedSignals, previewException } from '../../../subjects/detections/exception-preview.ts';
import { createRuleDeploymentSource } from '../../../subjects/detections/rule-tests.ts';
import { ApiError, createFieldErrors, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { ruleResource } from './rule.ts';

const previewExceptionId = 'previewed';
/** Time limit of the rule evaluation, not including the time to read the records */
const budgetMs = 30_000;

export const previewRuleException = defineOperation({
  method: 'POST',
  path: '/api/siem/rules/{id}/exceptions/preview',
  operationId: 'previewDetectionRuleException',
  summary: 'Preview which past signals an exception would have covered, before it is saved',
  role: 'editor',
  auditExemption: 'read-only',
  budgetMs: 60_000,
  params: idParameter,
  body: z.strictObject({
    when: RuleException.shape.when.describe(
      'Same form as in an exception: a map like a Sigma selection, all of whose entries must match',
    ),
    from: rangeParameters.from.describe('Default: now-7d'),
    to: rangeParameters.to,
  }),
  response: z.strictObject({
    isComplete: z
      .boolean()
      .describe(`false if there were more than ${maxPreviewedSignals} signals: only the newest were checked`),
    rules: z.array(
      z.strictObject({
        ruleId: z.string(),
        ruleTitle: z.string(),
        kind: z.enum(['rule', 'correlation']),
        signals: z.int(),
        covered: z
          .int()
          .describe(
            'Signals that the exception would have covered; a correlation counts if at least one of its records is covered',
          ),
        unknown: z.int().describe('Number of signals whose records are no longer stored'),
        examples: z.array(
          z.strictObject({ signalId: z.string(), time: z.iso.datetime(), entities: z.array(z.string()) }),
        ),
      }),
    ),
  }),
  async handler({ caller, params, body, signal }, ports) {
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const rule = await tenantDocuments.collection(ruleResource.collection).find(params.id);
    if (rule === undefined) throw createNotFoundError('detection rule');
    if (rule.kind !== 'rule') throw new ApiError('CONFLICT', `this is a ${rule.kind}: only rules have exceptions`);
    const error = findExceptionError(body);
    if (error !== undefined) throw createFieldErrors([error]);
    const reader = createQueryReader(caller, ports);
    const range = parseRetainedRange(
      { from: body.from ?? 'now-7d', to: body.to },
      { caller: reader, signal: 'logs', nowMs: reader.nowMs },
    );
    const exception = { id: previewExceptionId, reason: '', when: body.when, expiresAt: null };
    const ruleDeploymentSource = await createRuleDeploymentSource(
      { ...rule, exceptions: [exception] },
      tenantDocuments,
    );
    const previewOptions = { tenantId: caller.tenantId, nowMs: reader.nowMs, budgetMs, signal };
    const { rules, isComplete } = await previewException(
      reader,
      { ...previewOptions, rule, toDeploy: ruleDeploymentSource, exceptionId: previewExceptionId },
      range,
    );
    return {
      isComplete,
      rules: rules.map(({ examples, ...counts }) => ({
        ...counts,
        examples: examples.map(({ id, ms, entities }) => ({
          signalId: id,
          time: new Date(Number(ms)).toISOString(),
          entities: [...entities],
        })),
      })),
    };
  },
});
