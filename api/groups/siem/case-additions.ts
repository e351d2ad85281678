import { z } from 'zod';
import { caseComments, caseEvidence } from '../../../schemas/resources/security-case.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { CommentView, caseResource, EvidenceView, hashContent, maxEvidence, toEvidenceView } from './case.ts';
import { attachEvidenceAction } from './case-evidence.ts';

export const commentOnCase = defineOperation({
  method: 'POST',
  path: '/api/siem/cases/{id}/comments',
  operationId: 'commentOnCase',
  summary: 'Comment on a case',
  role: 'editor',
  audit: 'security-case.comment',
  params: idParameter,
  body: z.strictObject({ text: z.string().min(1).max(16_384) }),
  response: CommentView,
  handler: ({ caller, params, body, change }) =>
    change(async (scope) => {
      const securityCase = await caseResource.createWriter(scope, caller).find(params.id);
      const { id, text, authorId, authorName, createdAt } = await scope
        .forTenant(caller.tenantId)
        .collection(caseComments)
        .insert({
          caseId: securityCase.id,
          text: body.text,
          authorId: caller.actor.id,
          authorName: caller.actor.name,
        });
      scope.record({ id: securityCase.id, name: securityCase.title, after: { comment: { id, text } } });
      return { id, text, authorId, authorName, createdAt };
    }),
});

/** Maximum size of evidence, so that its base64 form fits into a document */
const maxEvidenceBytes = 2_000_000;

export const attachCaseEvidence = defineOperation({
  method: 'POST',
  path: '/api/siem/cases/{id}/evidence',
  operationId: 'attachCaseEvidence',
  summary: 'Attach evidence to a case: its hash becomes part of the audit chain, and it cannot be changed or removed',
  role: 'editor',
  audit: attachEvidenceAction,
  maxBodyBytes: 4_000_000,
  params: idParameter,
  body: z.strictObject({
    name: z.string().min(1).max(256),
    description: z.string().max(4096).default(''),
    mediaType: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type, such as text/plain')
      .max(128)
      .default('application/octet-stream'),
    content: z.base64().describe('Base64 of at most 2,000,000 bytes'),
  }),
  response: EvidenceView,
  handler: ({ caller, params, body, change }) =>
    change(async (scope) => {
      const securityCase = await caseResource.createWriter(scope, caller).find(params.id);
      const evidenceCollection = scope.forTenant(caller.tenantId).collection(caseEvidence);
      const hashedContent = hashContent(body.content);
      if (hashedContent.bytes > maxEvidenceBytes)
        throw new ApiError(
          'PAYLOAD_TOO_LARGE',
          `evidence can have at most ${maxEvidenceBytes} bytes, but this file has ${hashedContent.bytes}`,
        );
      if ((await evidenceCollection.count({ caseId: securityCase.id })) >= maxEvidence)
        throw new ApiError('CONFLICT', `a case can have at most ${maxEvidence} items of evidence: open another case`);
      const { name, description, mediaType } = body;
      const after = await evidenceCollection.insert({
        caseId: securityCase.id,
        name,
        description,
        mediaType,
        ...hashedContent,
        addedBy: caller.actor.id,
      });
      const { id, sha256, bytes } = after;
      scope.record({ id, name, after: { caseId: securityCase.id, name, mediaType, bytes, sha256 } });
      return toEvidenceView(after);
    }),
});
