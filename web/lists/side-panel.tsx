/** Side panel of a list */
import type { ComponentChildren } from 'preact';
import { shownText, textOf } from '../frame/shown-text.tsx';
import { Long } from './long-text.tsx';
import { ManyFields } from './many-fields.tsx';

export const SidePanel = ({
  label,
  title,
  onClose,
  children,
}: {
  readonly label: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => (
  <aside class="beside" aria-label={label}>
    <div class="beside-head">
      <h2>{shownText(title)}</h2>
      <button type="button" class="plain" onClick={onClose}>
        Close
      </button>
    </div>
    {children}
  </aside>
);

/** Names and values without empty ones. */
export const Fields = ({ values }: { readonly values: Readonly<Record<string, unknown>> }) => (
  <ManyFields of={Object.entries(values)} class="fields">
    {([name, value]) => (
      <>
        <dt>{shownText(name)}</dt>
        <dd>
          <Long text={textOf(value)} />
        </dd>
      </>
    )}
  </ManyFields>
);
