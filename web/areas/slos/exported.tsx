/** An SLO as OpenSLO, or the fields that a version does not support */
import { useState } from 'preact/hooks';
import { addressOf } from '../../client/call.ts';
import { ChoiceInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { Raw } from '../../lists/raw.tsx';
import { exportCall } from './calls.ts';

const versions = { v1: 'OpenSLO 1', v2alpha: 'OpenSLO 2 alpha', v1alpha: 'OpenSLO 1 alpha' } as const;

export const Exported = ({ id }: { readonly id: string }) => {
  const [version, setVersion] = useState<keyof typeof versions>('v1');
  const sent = { params: { id }, query: { version } };
  const { answer, error } = useQuery(exportCall, sent);
  return (
    <>
      <ChoiceInput label="Version" options={versions} value={version} problem={undefined} onChange={setVersion} />
      {error === undefined ? null : error.details.length === 0 ? (
        <Problem error={error} />
      ) : (
        <div role="alert">
          <ul>
            {error.details.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{shownText(path)}</code> {shownText(message)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {answer === undefined || error !== undefined ? null : (
        <>
          <a href={addressOf(exportCall, sent)} download="objective.yaml">
            Download
          </a>
          <Raw label="OpenSLO" text={answer} />
        </>
      )}
    </>
  );
};
