/** Side panel next to a list */
import { Maximize2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { ButtonLink } from '../components/button.tsx';
import { renderText, toText } from '../frame/display-text.tsx';
import { LongText } from './long-text.tsx';
import { ManyFields } from './many-fields.tsx';

export const SidePanel = ({
  label,
  title,
  url,
  onClose,
  children,
}: {
  readonly label: string;
  readonly title: string;
  /** Page of the item */
  readonly url?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => (
  <aside class="beside" aria-label={label}>
    <div class="beside-head">
      <h2>{renderText(title)}</h2>
      {url === undefined ? null : (
        <ButtonLink url={url} kind="quiet" icon={Maximize2}>
          Open page
        </ButtonLink>
      )}
      <button type="button" class="plain" onClick={onClose}>
        Close
      </button>
    </div>
    {children}
  </aside>
);

/** Names and values, without empty values */
export const Fields = ({ values }: { readonly values: Readonly<Record<string, unknown>> }) => (
  <ManyFields fields={Object.entries(values)} class="fields">
    {([name, value]) => (
      <>
        <dt>{renderText(name)}</dt>
        <dd>
          <LongText text={toText(value)} />
        </dd>
      </>
    )}
  </ManyFields>
);
