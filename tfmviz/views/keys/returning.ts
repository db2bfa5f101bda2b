// Another server after a lost connection: a replica that takes over, or the same server started anew.

const STATES = ["data-test-connection-state", "data-test-script-state"];

/**
 * Calls back each time a lost connection is there again: the server may know nothing of the page. Until its first run
 * has ended, the new server may ignore what the reader does; so this calls back once more after that.
 * Returns what ends all this.
 */
export function onReturn(callback: () => void) {
  const app = document.querySelector(`[${STATES[0]}]`);
  const states = () => STATES.map((name) => app?.getAttribute(name));
  let [wasThere, isAwaited, hasBegun, wasTouched] = [states()[0] === "CONNECTED", false, false, false];
  const touch = () => {
    wasTouched = true;
  };
  const observer = new MutationObserver(() => {
    const [connection, script] = states();
    const isThere = connection === "CONNECTED";
    if (isThere && !wasThere) {
      [isAwaited, hasBegun, wasTouched] = [true, false, false];
      callback();
    } else if (isAwaited && script !== "notRunning") hasBegun = true;
    else if (isAwaited && hasBegun) {
      isAwaited = false;
      if (wasTouched) callback();
    }
    wasThere = isThere;
  });
  if (app) observer.observe(app, { attributeFilter: STATES });
  for (const event of ["keydown", "click"]) document.addEventListener(event, touch, true);
  return () => {
    observer.disconnect();
    for (const event of ["keydown", "click"]) document.removeEventListener(event, touch, true);
  };
}
