/* Passkeys: asks the browser for one when a form with `data-passkey` is sent, and sends its answer with the form.

   Such a form is hidden until here it is clear that the browser has passkeys. Its `data-options` is the address of the
   challenge, its field `credential` (or `identity_credential`) takes the answer. */

(() => {
  const credentials = window.PublicKeyCredential;
  // Passkeys belong to a name: at an address such as 127.0.0.1 no browser has any.
  const isName = !/^[0-9.]+$|:/.test(location.hostname);
  const canUse = Boolean(
    isName && credentials && credentials.parseRequestOptionsFromJSON && credentials.prototype.toJSON
  );

  const say = (form, words) => {
    let place = form.querySelector("[data-passkey-fault]");
    if (!place) {
      place = document.createElement("p");
      place.className = "field__error";
      place.setAttribute("role", "alert");
      place.setAttribute("data-passkey-fault", "");
      form.append(place);
    }
    place.textContent = words;
  };

  const ask = async (form) => {
    const purpose = form.dataset.passkey;
    const token = form.elements.csrfmiddlewaretoken.value;
    const answer = await fetch(form.dataset.options, {
      method: "POST",
      headers: { "X-CSRFToken": token },
      body: new URLSearchParams({ purpose }),
    });
    const options = await answer.json();
    if (!answer.ok) {
      throw new Error(options.error || gettext("Reload the page and try again."));
    }
    if (purpose === "add") {
      const publicKey = credentials.parseCreationOptionsFromJSON(options.publicKey);
      return navigator.credentials.create({ publicKey });
    }
    const publicKey = credentials.parseRequestOptionsFromJSON(options.publicKey);
    return navigator.credentials.get({ publicKey });
  };

  const words = (error) => {
    if (error.name === "SecurityError") {
      return gettext("Passkeys work on HTTPS or localhost only, at an address with a name.");
    }
    if (error.name === "InvalidStateError") {
      return gettext("This device has a passkey for your account already.");
    }
    if (error.name === "NotAllowedError" || error.name === "AbortError") {
      return gettext("No passkey was used. Try again.");
    }
    return error.message;
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (!canUse) {
      if (form.dataset.passkey === "add") {
        const note = document.createElement("p");
        note.textContent = gettext("Passkeys need a newer browser, and HTTPS or localhost at an address with a name.");
        form.before(note);
      }
      continue;
    }
    form.hidden = false;
    const field = form.elements.credential || form.elements.identity_credential;
    form.addEventListener("submit", async (event) => {
      if (field.value) {
        return;
      }
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      say(form, "");
      try {
        field.value = JSON.stringify((await ask(form)).toJSON());
        form.submit();
      } catch (error) {
        say(form, words(error));
        button.disabled = false;
      }
    });
  }
})();
