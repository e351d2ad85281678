/** Card: a titled box for content that belongs together. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export const Card = ({
  title,
  note,
  actions,
  isFlush = false,
  children,
}: {
  readonly title: ComponentChildren;
  /** Short text next to the title */
  readonly note?: ComponentChildren;
  /** Links or buttons at the end of the title line */
  readonly actions?: ComponentChildren;
  /** Whether the content reaches the edges, as a table does */
  readonly isFlush?: boolean;
  readonly children: ComponentChildren;
}) => {
  const titleId = useId();
  return (
    <section class={`card${isFlush ? ' flush' : ''}`} aria-labelledby={titleId}>
      <div class="card-head">
        <h2 id={titleId}>{title}</h2>
        {note === undefined ? null : <small>{note}</small>}
        {actions === undefined ? null : <div class="card-actions">{actions}</div>}
      </div>
      <div class="card-body">{children}</div>
    </section>
  );
};
