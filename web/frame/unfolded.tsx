/** A part that is asked for when somebody opens it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export const Unfolded = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: () => ComponentChildren;
}) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children() : null}
    </details>
  );
};
