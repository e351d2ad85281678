/** Collapsed section whose content is rendered when it is opened */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export const LazyDetails = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: () => ComponentChildren;
}) => {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children() : null}
    </details>
  );
};
