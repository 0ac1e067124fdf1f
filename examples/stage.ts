import type { Scheduler } from '../src/index.js';
import { LiveView, type Screen } from './live-view.js';
import { visible } from './visible.js';

/** What an example has besides its lines of text. */
export interface Stage {
  /** Shows the tasks of the scheduler while it works, where there is a terminal to show them in. */
  watch(scheduler: Scheduler): void;
  /** The time that work takes: a moment, or in a terminal long enough to be looked at. */
  pause(): Promise<void>;
}

/** Where examples are played, and what becomes of what they print. */
export interface Theatre extends Stage {
  readonly print: (line: string) => void;
  /** The example is over. */
  end(): void;
}

const FRAME_MS = 100;

/** Lines of text and nothing else. */
export function plainTheatre(write: (line: string) => void): Theatre {
  return {
    print: (line) => {
      write(visible(line));
    },
    watch: () => undefined,
    pause: () => after(3),
    end: () => undefined,
  };
}

/** A terminal: what is watched is drawn below the lines of text, several times a second. */
export function liveTheatre(screen: Screen): Theatre {
  let view: LiveView | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    print(line) {
      view?.clear();
      screen.write(`${visible(line)}\n`);
      view?.draw();
    },
    watch(scheduler) {
      view = new LiveView(scheduler, screen);
      timer = setInterval(() => view?.draw(), FRAME_MS).unref();
    },
    pause: () => after(200),
    end() {
      clearInterval(timer);
      view?.draw();
      view = undefined;
    },
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
