/** Actions on the audit log: filters, verification of its chain, and export */
import { useState } from 'preact/hooks';
import type { verifyEvidence } from '../../../api/groups/audit/evidence.ts';
import type { listAuditActions, listAuditResourceTypes } from '../../../api/groups/audit/records.ts';
import { Action } from '../../client/action.ts';
import { type Answered, asQuery, callOf } from '../../client/call.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const verifyCall = callOf<typeof verifyEvidence>('GET', '/api/evidence/verify');

const actionsCall = callOf<typeof listAuditActions>('GET', '/api/audit/actions');
const typesCall = callOf<typeof listAuditResourceTypes>('GET', '/api/audit/resource-types');

const number = new Intl.NumberFormat('en');

const Verdict = ({ of: { valid, firstBreak, records } }: { readonly of: Answered<typeof verifyEvidence> }) =>
  valid || firstBreak === null ? (
    <span>All {number.format(records)} records are unmodified.</span>
  ) : (
    <b class="text-error">
      Records from {firstBreak.sequence} on are modified: {shownText(firstBreak.message)}
    </b>
  );

/** Filters records by name. */
const Only = ({
  label,
  name,
  of = [],
}: {
  readonly label: string;
  readonly name: string;
  readonly of: readonly string[] | undefined;
}) => {
  const chosen = inAddress(name);
  // The selection is displayed before the other options are loaded.
  const all = new Set([...(chosen === '' ? [] : [chosen]), ...of]);
  return (
    <label>
      {label}{' '}
      <select value={chosen} onChange={({ currentTarget }) => change({ [name]: currentTarget.value, open: '' })}>
        <option value="">all</option>
        {[...all].map((each) => (
          <option key={each} value={each}>
            {each}
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
  const [found, setFound] = useState<Answered<typeof verifyEvidence>>();
  if (!isPermitted(verifyCall)) return null;
  const verify = async (): Promise<void> => setFound(await action.run({}));
  return (
    <>
      <Only label="Action" name="action" of={actions.answer?.items} />
      <Only label="Resource type" name="resourceType" of={types.answer?.items} />
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void verify()}>
        Verify audit log
      </button>
      <a href={asQuery('/api/audit/export', { ...writtenRange.value, format: 'csv' })} download={true}>
        Export this range as CSV
      </a>
      <a href="/api/audit/export?format=evidence" download={true}>
        Export the chain as evidence
      </a>
      <a href="/api/evidence/head" download="signed-head.json">
        Download the signed head
      </a>
      <span role="status">{found === undefined ? null : <Verdict of={found} />}</span>
      <Problem error={action.error.value} />
    </>
  );
};
