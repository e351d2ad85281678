/** Export of an SLO as OpenSLO, or the fields that the selected version does not support */
import { useState } from 'preact/hooks';
import { toUrl } from '../../client/call.ts';
import { RecordSelectInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { exportCall } from './calls.ts';

const versions = { v1: 'OpenSLO 1', v2alpha: 'OpenSLO 2 alpha', v1alpha: 'OpenSLO 1 alpha' } as const;

export const OpenSloExport = ({ id }: { readonly id: string }) => {
  const [version, setVersion] = useState<keyof typeof versions>('v1');
  const request = { params: { id }, query: { version } };
  const { response, error } = useQuery(exportCall, request);
  return (
    <>
      <RecordSelectInput label="Version" options={versions} value={version} problem={undefined} onChange={setVersion} />
      {error === undefined ? null : error.details.length === 0 ? (
        <ErrorMessage error={error} />
      ) : (
        <div role="alert">
          <ul>
            {error.details.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{renderText(path)}</code> {renderText(message)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {response === undefined || error !== undefined ? null : (
        <>
          <a href={toUrl(exportCall, request)} download="slo.yaml">
            Download
          </a>
          <RawText label="OpenSLO" text={response} />
        </>
      )}
    </>
  );
};
