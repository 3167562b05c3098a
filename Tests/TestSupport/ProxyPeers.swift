/// Real proxies, as Debian has them, with configurations of a test's own. Each takes the user `user` with the password
/// `secret` where it asks for one.
public enum ProxyPeers {
    public enum Asking: Sendable { case nobody, basic, digest }

    /// squid, told to ask by one scheme. A Digest nonce of it serves four requests, and is stale then.
    public static func squid(_ asking: Asking = .nobody) async throws -> Peer {
        let scheme =
            switch asking {
            case .nobody:
                ""
            case .basic:
                """
                auth_param basic program /usr/lib/squid/basic_ncsa_auth FOLDER/crypted
                auth_param basic children 1
                auth_param basic realm squid
                acl known proxy_auth REQUIRED
                """
            case .digest:
                """
                auth_param digest program /usr/lib/squid/digest_file_auth FOLDER/plain
                auth_param digest children 1
                auth_param digest realm squid
                auth_param digest nonce_max_count 4
                acl known proxy_auth REQUIRED
                """
            }
        return try await Peer(
            "/usr/sbin/squid",
            configuration: """
                http_port 127.0.0.1:PORT
                \(scheme)
                http_access allow \(asking == .nobody ? "all" : "known")
                http_access deny all
                cache deny all
                access_log none
                cache_log /dev/stderr
                cache_store_log none
                pid_filename none
                coredump_dir FOLDER
                shutdown_lifetime 0 seconds
                max_filedescriptors 1024
                via off
                """,
            // `openssl passwd -apr1 -salt uncurl00 secret`
            files: ["crypted": "user:$apr1$uncurl00$6Aq/3WrNnpIdUr9UShhIa0\n", "plain": "user:secret\n"],
            ["-N", "-f", "CONFIGURATION"]
        )
    }

    public static func tinyproxy(asks: Bool) async throws -> Peer {
        try await Peer(
            "/usr/bin/tinyproxy",
            configuration: """
                Listen 127.0.0.1
                Port PORT
                Timeout 60
                MaxClients 20
                \(asks ? "BasicAuth user secret" : "")
                """,
            ["-d", "-c", "CONFIGURATION"]
        )
    }

    /// dante, which asks for nothing: it knows the system's users only.
    public static func dante() async throws -> Peer {
        try await Peer(
            "/usr/sbin/danted",
            configuration: """
                logoutput: stderr
                internal: 127.0.0.1 port = PORT
                external: 127.0.0.1
                clientmethod: none
                socksmethod: none
                client pass { from: 127.0.0.0/8 to: 127.0.0.0/8 }
                socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
                """,
            ["-f", "CONFIGURATION", "-p", "FOLDER/pid", "-N", "1"]
        )
    }

    public static func microsocks(asks: Bool) async throws -> Peer {
        let credentials = asks ? ["-u", "user", "-P", "secret"] : []
        // Outgoing from IPv4: it tries one address of a name only, and `localhost` may be IPv6 first.
        return try await Peer(
            "/usr/bin/microsocks",
            ["-i", "127.0.0.1", "-p", "PORT", "-b", "127.0.0.1"] + credentials
        )
    }

    /// haproxy, which takes TLS off and hands the rest on.
    ///
    /// - Parameters:
    ///   - port: that of the server behind it.
    ///   - identityPEM: its certificates and their key.
    public static func haproxy(before port: UInt16, identityPEM: String) async throws -> Peer {
        try await Peer(
            "/usr/sbin/haproxy",
            configuration: """
                defaults
                    mode tcp
                    timeout connect 5s
                    timeout client 60s
                    timeout server 60s
                frontend tls
                    bind 127.0.0.1:PORT ssl crt FOLDER/identity.pem
                    default_backend proxy
                backend proxy
                    server one 127.0.0.1:\(port)

                """,
            files: ["identity.pem": identityPEM],
            ["-db", "-f", "CONFIGURATION"]
        )
    }
}
