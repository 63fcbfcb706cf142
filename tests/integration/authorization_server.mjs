// `server.mjs PORT RESOURCE`: the certified authorization server `oidc-provider` for one resource. Its pages take any name
// and any password; clients register, or have a document at a loopback address.
import Provider from "oidc-provider";

const [port, resource] = process.argv.slice(2);
const scopes = ["read", "feedback", "propose"];
const provider = new Provider(`http://127.0.0.1:${port}`, {
  scopes: ["openid", "offline_access", ...scopes],
  clientDefaults: { token_endpoint_auth_method: "none" },
  features: {
    registration: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, asked) => {
        if (asked !== resource) throw new Error(`no resource ${asked}`);
        return { scope: scopes.join(" "), audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 300 };
      },
    },
  },
  extraTokenClaims: (_, token) => ({ email: `${token.accountId}@example.com`, email_verified: true }),
  // Its own dispatcher refuses loopback.
  fetch: (address, { dispatcher, ...options }) => fetch(address, options),
  issueRefreshToken: () => true,
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
