/** Screenshots of a browser check at the end of its last passed and its last failed run */

import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { screenshotsCall } from './calls.ts';

const runCaptions = { good: 'last passed run', failed: 'last failed run' } as const;

/** `getLocationName` returns the name of a location by its id. */
export const Screenshots = ({
  id,
  getLocationName,
}: {
  readonly id: string;
  readonly getLocationName: (id: string) => string;
}) => {
  const { response, error } = useQuery(screenshotsCall, { params: { id } });
  return (
    <>
      <h3>Screenshots</h3>
      <ErrorMessage error={error} />
      {response?.items.length === 0 ? <p class="soft">No screenshots yet.</p> : null}
      {response?.items.map(({ location, kind, dueAt, content }) => (
        <figure key={`${location} ${kind}`} class="picture">
          <img src={`data:image/jpeg;base64,${content}`} alt={`Screenshot at the end of the ${runCaptions[kind]}`} />
          <figcaption>
            <bdi>{renderText(getLocationName(location))}</bdi>, {runCaptions[kind]}: {formatIsoTime(dueAt)}
          </figcaption>
        </figure>
      ))}
      {typeof response?.nextCursor === 'string' ? (
        <p class="soft">Screenshots of more locations are not shown.</p>
      ) : null}
    </>
  );
};
