/** A section whose data is loaded when it is opened */
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
