/** Actions on the audit log: filters, verification of its chain, and export */
import { useState } from 'preact/hooks';
import type { verifyEvidence } from '../../../api/groups/audit/evidence.ts';
import type { listAuditActions, listAuditResourceTypes } from '../../../api/groups/audit/records.ts';
import { Action } from '../../client/action.ts';
import { addQuery, declareCall, type ResponseBody } from '../../client/call.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const verifyCall = declareCall<typeof verifyEvidence>('GET', '/api/evidence/verify');

const actionsCall = declareCall<typeof listAuditActions>('GET', '/api/audit/actions');
const typesCall = declareCall<typeof listAuditResourceTypes>('GET', '/api/audit/resource-types');

const numberFormat = new Intl.NumberFormat('en');

const VerificationResult = ({
  result: { valid, firstBreak, records },
}: {
  readonly result: ResponseBody<typeof verifyEvidence>;
}) =>
  valid || firstBreak === null ? (
    <span>All {numberFormat.format(records)} records are unmodified.</span>
  ) : (
    <b class="text-error">
      The chain is broken from record {firstBreak.sequence} on: {renderText(firstBreak.message)}
    </b>
  );

/** Select that filters audit records by one URL parameter */
const FilterSelect = ({
  label,
  name,
  options = [],
}: {
  readonly label: string;
  readonly name: string;
  readonly options: readonly string[] | undefined;
}) => {
  const selection = readParam(name);
  // The selection is displayed before the other options are loaded.
  const allOptions = new Set([...(selection === '' ? [] : [selection]), ...options]);
  return (
    <label>
      {label}{' '}
      <select value={selection} onChange={({ currentTarget }) => setParams({ [name]: currentTarget.value, open: '' })}>
        <option value="">all</option>
        {[...allOptions].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
};

export const AuditTools = () => {
  const [action] = useState(() => new Action(verifyCall));
  const actions = useQuery(actionsCall, {});
  const types = useQuery(typesCall, {});
  const [verification, setVerification] = useState<ResponseBody<typeof verifyEvidence>>();
  if (!isPermitted(verifyCall)) return null;
  const verify = async (): Promise<void> => setVerification(await action.run({}));
  return (
    <>
      <FilterSelect label="Action" name="action" options={actions.response?.items} />
      <FilterSelect label="Resource type" name="resourceType" options={types.response?.items} />
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void verify()}>
        Verify audit log
      </button>
      <a href={addQuery('/api/audit/export', { ...timeRange.value, format: 'csv' })} download={true}>
        Export this range as CSV
      </a>
      <a href="/api/audit/export?format=evidence" download={true}>
        Export the chain as evidence
      </a>
      <a href="/api/evidence/head" download="signed-head.json">
        Download the signed head
      </a>
      <span role="status">{verification === undefined ? null : <VerificationResult result={verification} />}</span>
      <ErrorMessage error={action.error.value} />
    </>
  );
};
