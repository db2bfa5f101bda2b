// Another server after a lost connection: a replica that takes over, or the same server started anew.

/**
 * Calls back each time a lost connection is there again. Returns what ends that.
 *
 * @param {() => void} callback
 */
export function onReturn(callback) {
  const app = document.querySelector("[data-test-connection-state]");
  const isThere = () => app?.getAttribute("data-test-connection-state") === "CONNECTED";
  let wasThere = isThere();
  const observer = new MutationObserver(() => {
    const is = isThere();
    if (is && !wasThere) callback();
    wasThere = is;
  });
  if (app) observer.observe(app, { attributeFilter: ["data-test-connection-state"] });
  return () => observer.disconnect();
}
