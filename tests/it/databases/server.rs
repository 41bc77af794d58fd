//! Database servers that are started for a test, and end with it.

use std::ffi::OsStr;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mcp_eval::sql::Database;
use mysql_async::prelude::Queryable as _;
use tempfile::TempDir;

use crate::common::free_port;

/// How long a database may take until it can be asked.
const PATIENCE: Duration = Duration::from_secs(60);

/// A database server that is started for a test, and ends with it.
pub(crate) struct Server {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

fn done(command: &mut Command) -> Output {
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{command:?}: {done:?}");
    done
}

/// PostgreSQL refuses to be run by root, and takes the user that its package makes.
fn as_postgres(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = [
        "--reuid=postgres",
        "--regid=postgres",
        "--clear-groups",
        "--",
    ];
    command.args(user).arg(program);
    command
}

impl Server {
    pub(crate) fn postgres() -> Result<Self, String> {
        let versions = glob::glob("/usr/lib/postgresql/*/bin").unwrap();
        let programs = versions.flatten().last();
        let programs = programs.ok_or("PostgreSQL is not installed")?;
        let folder = TempDir::new_in("/tmp").unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        if is_root() {
            done(
                Command::new("chown")
                    .args(["-R", "postgres"])
                    .arg(folder.path()),
            );
        }
        std::fs::write(folder.path().join("password"), "s3cret").unwrap();
        let mut initdb = as_postgres(&programs.join("initdb"));
        initdb
            .current_dir("/")
            .args([
                "--username=shop",
                "--auth=scram-sha-256",
                "--no-sync",
                "--encoding=UTF8",
            ])
            .arg(format!(
                "--pwfile={}",
                folder.path().join("password").display()
            ))
            .arg("-D")
            .arg(&data);
        done(&mut initdb);
        let port = free_port();
        let mut server = as_postgres(&programs.join("postgres"));
        server
            .current_dir("/")
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-F", "-k"])
            .arg(folder.path());
        Ok(Self::started(&mut server, port, folder))
    }

    pub(crate) fn mariadb() -> Result<Self, String> {
        let programs = ["/usr/sbin/mariadbd", "/usr/libexec/mariadbd"].map(PathBuf::from);
        let program = programs.into_iter().find(|it| it.exists());
        let program = program.ok_or("MariaDB is not installed")?;
        let folder = TempDir::new_in("/tmp").unwrap();
        let data = folder.path().join("data");
        let option = |name: &str, value: &dyn AsRef<OsStr>| {
            let mut option = std::ffi::OsString::from(format!("--{name}="));
            option.push(value);
            option
        };
        let mut install = Command::new("mariadb-install-db");
        install.args([
            "--no-defaults",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        ]);
        install.arg(option("datadir", &data));
        let init = folder.path().join("init.sql");
        std::fs::write(
            &init,
            "create database shop;\ncreate user shop@'%' identified by 's3cret';\ngrant all on shop.* to shop@'%';\n",
        )
        .unwrap();
        let port = free_port();
        let mut server = Command::new(program);
        server.args([
            "--no-defaults",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
        ]);
        if is_root() {
            install.arg("--user=root");
            server.arg("--user=root");
        }
        done(&mut install);
        server
            .arg(option("datadir", &data))
            .arg(option("socket", &folder.path().join("socket")))
            .arg(option("pid-file", &folder.path().join("pid")))
            .arg(option("init-file", &init))
            .arg(format!("--port={port}"));
        Ok(Self::started(&mut server, port, folder))
    }

    fn started(command: &mut Command, port: u16, folder: TempDir) -> Self {
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let command = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap());
        let process = command.stderr(log).spawn().unwrap();
        let server = Self {
            process,
            port,
            _folder: folder,
        };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "no database listens");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    pub(crate) fn postgres_address(&self, password: &str) -> String {
        format!(
            "postgres://shop:{password}@127.0.0.1:{}/postgres",
            self.port
        )
    }

    pub(crate) fn mariadb_address(&self, password: &str) -> String {
        format!("mariadb://shop:{password}@127.0.0.1:{}/shop", self.port)
    }

    /// Does these statements, as soon as the server is ready for them.
    pub(crate) fn fill_postgres(&self, statements: &[&str]) {
        let address = self.postgres_address("s3cret");
        awaited(&Database::parse(&address).unwrap());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let connected = tokio_postgres::connect(&address, tokio_postgres::NoTls);
            let (client, connection) = connected.await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&statements.join("; ")).await.unwrap();
        });
    }

    /// The same.
    pub(crate) fn fill_mariadb(&self, statements: &[&str]) {
        let address = self.mariadb_address("s3cret");
        awaited(&Database::parse(&address).unwrap());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let address = address.replace("mariadb://", "mysql://");
            let mut connection = mysql_async::Conn::from_url(address).await.unwrap();
            for statement in statements {
                connection.query_drop(*statement).await.unwrap();
            }
            connection.disconnect().await.unwrap();
        });
    }
}

/// Asks until the server is ready to answer.
fn awaited(database: &Database) {
    let until = Instant::now() + PATIENCE;
    while let Err(error) = super::ask(database, "select 1", &[]) {
        assert!(Instant::now() < until, "{error}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
