import { useEffect } from 'preact/hooks';

/** Calls `close` when the user presses Escape. */
export const useEscape = (close: () => void): void =>
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
