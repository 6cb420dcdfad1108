// Search from a folder: a page that was opened as a file may not start a worker, so a hidden frame does its work.
(() => {
  if (location.protocol !== "file:") return;
  const inside = () => {
    window.postMessage = (data) => parent.postMessage(data, "*");
    window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = done;
      document.body.appendChild(script);
    })), Promise.resolve());
  };
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const own = this.frame.contentWindow;
      own.document.open();
      own.document.write(`<body><script>(${inside})()<\/script><script src="${url}"><\/script></body>`);
      own.document.close();
      this.ready = new Promise((done) => { own.onload = done; });
      window.addEventListener("message", (event) => {
        if (event.source === own) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
    }

    postMessage(data) {
      const own = () => this.frame.contentWindow;
      this.ready.then(() => own().dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
})();
