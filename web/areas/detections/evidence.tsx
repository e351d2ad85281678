/** Evidence of a case: attached files, and a form to attach one. Their hashes are part of the audit chain. */
import { useState } from 'preact/hooks';
import type { EvidenceView } from '../../../api/groups/siem/case.ts';
import type { attachCaseEvidence } from '../../../api/groups/siem/case-additions.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';

const attachEvidenceCall = declareCall<typeof attachCaseEvidence>('POST', '/api/siem/cases/{id}/evidence');
/** Maximum size of an upload in bytes; the API may have a lower limit */
const maxUploadBytes = 2_900_000;
const numberFormat = new Intl.NumberFormat('en');

const toBase64 = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    // `data:<type>;base64,<content>`; an empty file has no content.
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

const AttachEvidenceForm = ({ caseId }: { readonly caseId: string }) => {
  const [action] = useState(() => new Action(attachEvidenceCall));
  if (!isPermitted(attachEvidenceCall)) return null;
  const attach = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const file = formData.get('file') as File;
    const [mediaType = ''] = file.type.split(';');
    const body = {
      name: file.name,
      description: String(formData.get('description')),
      content: await toBase64(file),
      ...(mediaType === '' ? {} : { mediaType }),
    };
    if ((await action.run({ params: { id: caseId }, body })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Attach permanently" onSubmit={attach}>
      <label>
        File{' '}
        <input
          type="file"
          name="file"
          required={true}
          onChange={({ currentTarget }) =>
            currentTarget.setCustomValidity(
              (currentTarget.files?.[0]?.size ?? 0) > maxUploadBytes
                ? `The file is larger than ${numberFormat.format(maxUploadBytes)} bytes.`
                : '',
            )
          }
        />
      </label>
      <label>
        Description <input name="description" maxLength={4096} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

export const Evidence = ({
  caseId,
  evidence,
}: {
  readonly caseId: string;
  readonly evidence: readonly EvidenceView[];
}) => (
  <>
    <h3>Evidence</h3>
    <ul>
      {evidence.map(({ id, name, description, mediaType, bytes, sha256, isIntact, createdAt }) => (
        <li key={id}>
          <bdi>{renderText(name)}</bdi>, {renderText(mediaType)}, {numberFormat.format(bytes)} bytes,{' '}
          {formatIsoSecond(createdAt)}, {isIntact ? 'intact' : <b class="text-error">modified after it was attached</b>}
          {description === '' ? null : <p>{renderText(description, { lines: true })}</p>}
          <p class="hint">
            SHA-256 <code>{sha256}</code>
          </p>
        </li>
      ))}
    </ul>
    <AttachEvidenceForm caseId={caseId} />
  </>
);
